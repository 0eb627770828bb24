"""The posterior beside that of the No-U-Turn sampler on likelihoods written anew in JAX, covariates summed out.

Posterior means and standard deviations of both have a Monte-Carlo error: with 1,000 effective draws at least on either
side, a mean's difference has a standard error of sd √(2/1000) = .045 sd, and a standard deviation's of sd √(1/1000) =
.032 sd. Four of these: .18 and .13.
"""

from importlib import import_module

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.inference.estimators.priors import SLOPE, WIDE
from sfumato.inference.fit import fit
from sfumato.kernels.sampling.importance import Sample
from tests.inference.studies import FORMULA, dataset_a, noisy

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def libraries():
    """JAX and NumPyro, which take two seconds, are imported where the tests run and not where they are collected."""
    jax, numpyro, dist = map(import_module, ("jax", "numpyro", "numpyro.distributions"))
    jax.config.update("jax_enable_x64", True)
    globals().update(jax=jax, numpyro=numpyro, dist=dist, jnp=jax.numpy, stats=jax.scipy.stats)


jax = numpyro = dist = jnp = stats = None


def nuts(model, draws, *arguments):
    """Draws of one long chain, by name."""
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(model), num_warmup=500, num_samples=draws, num_chains=1, progress_bar=False
    )
    sampler.run(jax.random.PRNGKey(1), *arguments)
    draws = {name: np.asarray(x) for name, x in sampler.get_samples().items()}
    assert numpyro.diagnostics.effective_sample_size(draws["b"][None]).min() > 1000
    return draws


def agree(ours, theirs):
    np.testing.assert_allclose((ours.estimate - theirs.mean(axis=0)) / theirs.std(axis=0), 0, atol=0.18)
    np.testing.assert_allclose(ours.se / theirs.std(axis=0), 1, atol=0.13)


PATTERNS = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=float)


def binary_factors(z, variance):
    """Densities of clipped noisy 0/1 values under each pattern, shape (n, 8), from their definition."""
    s = variance**0.5
    one = np.ones((len(z), 8))
    for j in range(3):
        x, at = PATTERNS[:, j], z[:, j, None]
        inside = norm.pdf(at, x, s)
        one *= np.where(at <= 0, norm.cdf(0, x, s), np.where(at >= 1, norm.sf(1, x, s), inside))
    return one


def log_likelihood(b, log_pi, factors, y):
    """Three hidden 0/1 covariates and a probit response."""
    eta = b[0] + PATTERNS @ b[1:]
    log_f = jnp.where(y[:, None] == 1, stats.norm.logcdf(eta), stats.norm.logcdf(-eta))
    return jax.scipy.special.logsumexp(jnp.log(factors) + log_pi + log_f, axis=1).sum()


def study_a():
    """A sample of data set A with noise of variance .2, clipped, as the issue asks."""
    records = dataset_a()[np.random.default_rng(1).permutation(6837)[:2000]]
    table, told = noisy(records, 0.2, True, np.random.default_rng(2))
    return table, told, binary_factors(table.to_numpy()[:, 1:], 0.2), table["asthma"].to_numpy(), records


def test_three_noisy_binaries():
    table, told, factors, y, records = study_a()
    spread = records[:, 1:].std(axis=0)  # the priors' scale needs no more than this
    middle = np.concatenate([[1.0], table.to_numpy()[:, 1:].mean(axis=0)])

    def model(factors, y):
        b = numpyro.sample("b", dist.ImproperUniform(dist.constraints.real, (), (4,)))
        pi = numpyro.sample("pi", dist.Dirichlet(jnp.ones(8)))
        numpyro.factor("slopes", stats.norm.logpdf(b[1:], 0, SLOPE / spread).sum())
        numpyro.factor("level", stats.norm.logpdf(middle @ b, 0, WIDE))
        numpyro.factor("data", log_likelihood(b, jnp.log(pi), factors, y))

    ours = fit(FORMULA, table, told, family="probit", method="bayes")
    agree(ours, nuts(model, 2000, jnp.array(factors), jnp.array(y))["b"])


def test_ml_is_the_maximum_of_the_same_density_written_anew():
    """To 1e-4, the issue's figure; by Newton's method with JAX's own derivatives, begun at 0."""
    table, told, factors, y, _ = study_a()
    ours = fit(FORMULA, table, told, family="probit")

    def loss(t):
        return -log_likelihood(t[:4], jax.nn.log_softmax(jnp.concatenate([jnp.zeros(1), t[4:]])), factors, y)

    value = jax.jit(jax.value_and_grad(loss))
    found = minimize(lambda t: tuple(np.asarray(v, dtype=float) for v in value(t)), np.zeros(11), jac=True, tol=1e-10)
    H = np.asarray(jax.hessian(loss)(found.x))
    found.x -= np.linalg.solve(H, np.asarray(value(found.x)[1]))
    np.testing.assert_allclose(ours.estimate, found.x[:4], atol=1e-4)
    np.testing.assert_allclose(ours.se, np.sqrt(np.diagonal(np.linalg.inv(H)))[:4], rtol=1e-4)


def study_linear(n=1000):
    """A linear model with a noisy number and a misclassified 0/1 covariate that hang together."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    d = (0.8 * x + rng.normal(size=n) > 0.3).astype(int)
    y = 1 + 0.5 * x - 0.7 * d + rng.normal(size=n)
    released = np.where(rng.random(n) < np.where(d == 1, 0.2, 0.1), 1 - d, d)
    table = pl.DataFrame({"y": y, "x": x + rng.normal(0, 0.6, n), "d": released})
    P = [[0.9, 0.1], [0.2, 0.8]]
    return table, Disclosure([Additive(("x",), [[0.36]]), Misclassified("d", P, levels=(0, 1))]), np.array(P)


def test_a_linear_model_with_a_noisy_number_and_a_misclassified_category():
    """Given d, (y, z) is normal with two dimensions: written as that, and not by regressions as ours is."""
    table, told, P = study_linear()
    y, z, d = (table[c].to_numpy() for c in ("y", "x", "d"))
    slopes = SLOPE * y.std() / np.array([1.0, 0.48])  # sds of the true x and d, which need be known roughly only

    def model(y, z, factors):
        b = numpyro.sample("b", dist.ImproperUniform(dist.constraints.real, (), (3,)))
        sigma = numpyro.sample("sigma", dist.ImproperUniform(dist.constraints.positive, (), ()))
        S = numpyro.sample("S", dist.ImproperUniform(dist.constraints.positive, (), ()))
        mu = numpyro.sample("mu", dist.Normal(z.mean(), WIDE * z.std()).expand([2]))
        pi = numpyro.sample("pi", dist.Uniform(0, 1))
        numpyro.factor("slopes", stats.norm.logpdf(b[1:], 0, slopes).sum())
        numpyro.factor("level", stats.norm.logpdf(b @ jnp.array([1.0, z.mean(), d.mean()]), y.mean(), WIDE * y.std()))
        cov = jnp.array([[sigma**2 + b[1] ** 2 * S**2, b[1] * S**2], [b[1] * S**2, S**2 + 0.36]])
        both = [
            stats.multivariate_normal.logpdf(
                jnp.stack([y, z], axis=1), jnp.stack([b[0] + b[1] * mu[k] + b[2] * k, mu[k]]), cov
            )
            for k in (0, 1)
        ]
        log_pi = jnp.log(jnp.stack([1 - pi, pi]))
        numpyro.factor("data", jax.scipy.special.logsumexp(jnp.stack(both, 1) + log_pi + jnp.log(factors), 1).sum())

    theirs = nuts(model, 3000, jnp.array(y), jnp.array(z), jnp.array(P[:, d].T))
    ours = fit("y ~ x + d", table, told, method="bayes")
    agree(ours, theirs["b"])
    assert ours.sigma == pytest.approx(theirs["sigma"].mean(), abs=0.18 * theirs["sigma"].std())


@pytest.fixture(scope="module")
def separated(libraries):
    """Records of which one group never responds, under noise, and the sampler's draws from their posterior."""
    rng = np.random.default_rng(5)
    d = (rng.random(120) < 0.5).astype(float)
    y = d * (rng.random(120) < 0.4)
    z = d + rng.normal(0, 0.8, 120)

    def model(y, factors):
        b = numpyro.sample("b", dist.Normal(0, jnp.array([10.0, 5.0])))
        pi = numpyro.sample("pi", dist.Uniform(0, 1))
        eta = jnp.stack([b[0], b[0] + b[1]])
        log_f = jnp.where(y[:, None] == 1, stats.norm.logcdf(eta), stats.norm.logcdf(-eta))
        log_pi = jnp.log(jnp.stack([1 - pi, pi]))
        numpyro.factor("data", jax.scipy.special.logsumexp(log_f + log_pi + jnp.log(factors), axis=1).sum())

    theirs = nuts(model, 20_000, jnp.array(y), jnp.array(norm.pdf(z[:, None], [0, 1], 0.8)))["b"]
    return pl.DataFrame({"y": y, "x": z}), theirs


@pytest.mark.parametrize(("sampler", "draws", "effective"), [("importance", 8_000, 1000), ("hamiltonian", 4_000, 500)])
def test_a_skew_posterior_of_separation_under_noise(sampler, draws, effective, separated, monkeypatch):
    """Far from normal, by both samplers: shares below the reference's quantiles.

    Of 1,000 effective draws there and so many here a share has a standard error of √(.25 (1/1,000 + 1/500)) = .027;
    four of these.
    """
    table, theirs = separated
    told, priors = Disclosure([Additive(("x",), [[0.64]], values=(0, 1))]), {"Intercept": (0, 10), "x": (0, 5)}
    if sampler == "hamiltonian":
        monkeypatch.setattr(Sample, "trusted", property(lambda sample: False))
    ours = fit("y ~ x", table, told, family="probit", method="bayes", priors=priors, draws=draws)
    assert ours.posterior.sampler == sampler
    assert ours.checks["effective_draws"] > effective
    for j in range(2):
        bounds = np.quantile(theirs[:, j], [0.1, 0.3, 0.5, 0.7, 0.9])
        shares = (ours.draws[:, j, None] < bounds).mean(axis=0)
        np.testing.assert_allclose(
            shares, [0.1, 0.3, 0.5, 0.7, 0.9], atol=4 * np.sqrt(0.25 * (1 / 1000 + 1 / effective))
        )
