"""The No-U-Turn sampler of NumPyro on the benchmark of three noisy binary covariates, these summed out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np

from benchmarks import fit
from benchmarks.measure import cost

WARM_UP, DRAWS = 500, 1_000


@dataclass(frozen=True)
class Nuts:
    """CPU seconds of a first run, of a second one that need not compile, and effective draws of the worst slope."""

    first: float
    second: float
    effective: float


def measured() -> Nuts:
    """Run it in a process of its own, on one thread."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.nuts"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return Nuts(**json.loads(done.stdout.splitlines()[-1]))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    small, other = cost("fit", "small", 5), measured()
    return [
        (
            "NUTS on the three noisy binaries (NumPyro, 500 + 1,000, covariates summed out), over `ml`",
            f"{other.second:.1f} CPU s ({other.first:.1f} with compiling), {other.second / small.cpu:,.0f} times",
            "≥ 100 times",
            other.second >= 100 * small.cpu,
        ),
        (
            "  effective draws a CPU second",
            f"{other.effective / other.second:,.0f} ({other.effective / other.first:,.0f} with compiling)",
            "told",
            True,
        ),
    ]


def main() -> None:
    """Sample twice and print what it cost."""
    import jax
    import numpyro
    import numpyro.distributions as dist

    jax.config.update("jax_enable_x64", True)
    jnp, stats = jax.numpy, jax.scipy.stats
    _, table, _ = fit.released(*fit.SIZES["bayes"])
    columns = table.to_numpy()
    patterns = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=float)
    log_f = (-((columns[:, None, 1:] - patterns) ** 2).sum(axis=2) / (2 * fit.VARIANCE)).astype(float)

    def model(y: jax.Array, log_factors: jax.Array) -> None:
        b = numpyro.sample("b", dist.Normal(0, 10).expand([4]))
        pi = numpyro.sample("pi", dist.Dirichlet(jnp.ones(8)))
        eta = b[0] + patterns @ b[1:]
        log_y = jnp.where(y[:, None] == 1, stats.norm.logcdf(eta), stats.norm.logcdf(-eta))
        numpyro.factor("data", jax.scipy.special.logsumexp(log_factors + jnp.log(pi) + log_y, axis=1).sum())

    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(model), num_warmup=WARM_UP, num_samples=DRAWS, progress_bar=False, jit_model_args=True
    )
    y, log_factors = jnp.array(columns[:, 0]), jnp.array(log_f)
    seconds = []
    for seed in (1, 2):
        start = time.process_time()
        sampler.run(jax.random.PRNGKey(seed), y, log_factors)
        jax.block_until_ready(sampler.get_samples())
        seconds.append(time.process_time() - start)
    draws = np.asarray(sampler.get_samples()["b"])[None]
    effective = float(numpyro.diagnostics.effective_sample_size(draws).min())
    print(json.dumps({"first": seconds[0], "second": seconds[1], "effective": effective}))


if __name__ == "__main__":
    main()
