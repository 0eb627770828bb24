"""The posterior beside that of likelihoods written anew in JAX, covariates summed out.

By day the other posterior is drawn by weights or summed over a grid, at night by the No-U-Turn sampler. Posterior means
and standard deviations of both have a Monte-Carlo error: of n and m effective draws, a mean's difference has a standard
error of sd √(1/n + 1/m), and a standard deviation's of 1/√2 times that. With 1,000 on either side four of these are
.18 sd and .13 sd.
"""

from functools import partial
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_t, norm

import sfumato.inference.estimators.bayes as bayes
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
    import_module("jax.flatten_util")
    jax.config.update("jax_enable_x64", True)
    globals().update(jax=jax, numpyro=numpyro, dist=dist, jnp=jax.numpy, stats=jax.scipy.stats)


jax = numpyro = dist = jnp = stats = None


def nuts(model, *arguments, draws):
    """Draws of one long chain, by name, and how many they count for."""
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(model), num_warmup=500, num_samples=draws, num_chains=1, progress_bar=False
    )
    sampler.run(jax.random.PRNGKey(1), *arguments)
    draws = {name: np.asarray(x) for name, x in sampler.get_samples().items()}
    return draws, numpyro.diagnostics.effective_sample_size(draws["b"][None]).min()


def weighted(model, *arguments, start, draws=4000):
    """Draws by name, and how many they count for: from a t law around the maximum, drawn again by their weights.

    `start`: parameters by name where the climb begins, those that have bounds as numpyro maps them to all numbers.
    """
    flat, names = jax.flatten_util.ravel_pytree(start)

    def loss(t):
        return numpyro.infer.util.potential_energy(model, arguments, {}, names(t))

    both = jax.jit(jax.value_and_grad(loss))
    best = minimize(lambda t: tuple(np.asarray(v, dtype=float) for v in both(t)), np.asarray(flat), jac=True).x
    around = multivariate_t(best, np.linalg.inv(jax.jit(jax.hessian(loss))(best)), df=8, seed=1)
    drawn = around.rvs(draws)
    log_weights = -np.asarray(jax.jit(jax.vmap(loss))(drawn)) - around.logpdf(drawn)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    again = drawn[np.random.default_rng(2).choice(draws, draws, p=weights)]
    return {name: np.asarray(x) for name, x in jax.vmap(names)(again).items()}, 1 / (1 / draws + (weights**2).sum())


def agree(ours, theirs, effective):
    """Within four standard errors of what either side's draws leave open, and no less than 1,000 count."""
    assert min(ours.checks["effective_draws"], effective) > 1000
    room = 4 * np.sqrt(1 / ours.checks["effective_draws"] + 1 / effective)
    np.testing.assert_allclose((ours.estimate - theirs.mean(axis=0)) / theirs.std(axis=0), 0, atol=room)
    np.testing.assert_allclose(ours.se / theirs.std(axis=0), 1, atol=room / np.sqrt(2))


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


def log_likelihood(b, pi, factors, y):
    """Three hidden 0/1 covariates and a probit response: a sum over the eight patterns, whose densities are given."""
    eta = b[0] + PATTERNS @ b[1:]
    of_response = factors @ (pi[:, None] * stats.norm.cdf(jnp.stack([-eta, eta], axis=1)))
    return jnp.log(jnp.where(y == 1, of_response[:, 1], of_response[:, 0])).sum()


def study_a():
    """A sample of data set A with noise of variance .2, clipped, as the issue asks."""
    records = dataset_a()[np.random.default_rng(1).permutation(6837)[:2000]]
    table, told = noisy(records, 0.2, True, np.random.default_rng(2))
    return table, told, binary_factors(table.to_numpy()[:, 1:], 0.2), table["asthma"].to_numpy(), records


def three_noisy_binaries(draw, **options):
    table, told, factors, y, records = study_a()
    spread = records[:, 1:].std(axis=0)  # the priors' scale needs no more than this
    middle = np.concatenate([[1.0], table.to_numpy()[:, 1:].mean(axis=0)])

    def model(factors, y):
        b = numpyro.sample("b", dist.ImproperUniform(dist.constraints.real, (), (4,)))
        pi = numpyro.sample("pi", dist.Dirichlet(jnp.ones(8)))
        numpyro.factor("slopes", stats.norm.logpdf(b[1:], 0, SLOPE / spread).sum())
        numpyro.factor("level", stats.norm.logpdf(middle @ b, 0, WIDE))
        numpyro.factor("data", log_likelihood(b, pi, factors, y))

    ours = fit(FORMULA, table, told, family="probit", method="bayes")
    theirs, effective = draw(model, jnp.array(factors), jnp.array(y), **options)
    agree(ours, theirs["b"], effective)


def test_three_noisy_binaries():
    three_noisy_binaries(weighted, start={"b": jnp.zeros(4), "pi": jnp.zeros(7)})


@pytest.mark.nightly(of="tests/recovery/test_bayes_nuts.py::test_three_noisy_binaries")
def test_three_noisy_binaries_by_chains():
    three_noisy_binaries(nuts, draws=2000)


def test_ml_is_the_maximum_of_the_same_density_written_anew():
    """To 1e-4, the issue's figure; by Newton's method with JAX's own derivatives, begun at 0."""
    table, told, factors, y, _ = study_a()
    ours = fit(FORMULA, table, told, family="probit")

    def loss(t):
        return -log_likelihood(t[:4], jax.nn.softmax(jnp.concatenate([jnp.zeros(1), t[4:]])), factors, y)

    value = jax.jit(jax.value_and_grad(loss))
    found = minimize(lambda t: tuple(np.asarray(v, dtype=float) for v in value(t)), np.zeros(11), jac=True, tol=1e-10)
    H = np.asarray(jax.jit(jax.hessian(loss))(found.x))
    found.x -= np.linalg.solve(H, np.asarray(value(found.x)[1]))
    np.testing.assert_allclose(ours.estimate, found.x[:4], atol=1e-4)
    np.testing.assert_allclose(ours.se, np.sqrt(np.diagonal(np.linalg.inv(H)))[:4], rtol=1e-4)


def study_linear(n):
    """A linear model with a noisy number and a misclassified 0/1 covariate that hang together."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    d = (0.8 * x + rng.normal(size=n) > 0.3).astype(int)
    y = 1 + 0.5 * x - 0.7 * d + rng.normal(size=n)
    released = np.where(rng.random(n) < np.where(d == 1, 0.2, 0.1), 1 - d, d)
    table = pl.DataFrame({"y": y, "x": x + rng.normal(0, 0.6, n), "d": released})
    P = [[0.9, 0.1], [0.2, 0.8]]
    return table, Disclosure([Additive(("x",), [[0.36]]), Misclassified("d", P, levels=(0, 1))]), np.array(P)


def a_noisy_number_and_a_misclassified_category(draw, n, **options):
    """Given d, (y, z) is normal with two dimensions: written as that, and not by regressions as ours is."""
    table, told, P = study_linear(n)
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
        det = cov[0, 0] * cov[1, 1] - cov[0, 1] ** 2
        parts = []
        for k, share in enumerate((1 - pi, pi)):
            e, f = y - b[0] - b[1] * mu[k] - b[2] * k, z - mu[k]
            square = (cov[1, 1] * e**2 - 2 * cov[0, 1] * e * f + cov[0, 0] * f**2) / det
            parts.append(share * factors[:, k] * jnp.exp(-square / 2))
        numpyro.factor("data", jnp.log(parts[0] + parts[1]).sum() - len(y) * (jnp.log(det) / 2 + jnp.log(2 * jnp.pi)))

    theirs, effective = draw(model, jnp.array(y), jnp.array(z), jnp.array(P[:, d].T), **options)
    ours = fit("y ~ x + d", table, told, method="bayes")
    agree(ours, theirs["b"], effective)
    sigma = np.exp(theirs["sigma"]) if draw is weighted else theirs["sigma"]
    assert ours.sigma == pytest.approx(sigma.mean(), abs=0.18 * sigma.std())


def test_a_linear_model_with_a_noisy_number_and_a_misclassified_category():
    one = jnp.zeros(())
    start = {"b": jnp.array([1.0, 0.5, -0.7]), "sigma": one, "S": one, "mu": jnp.array([-0.3, 0.4]), "pi": one}
    a_noisy_number_and_a_misclassified_category(weighted, 500, start=start)


OF = "tests/recovery/test_bayes_nuts.py::test_a_linear_model_with_a_noisy_number_and_a_misclassified_category"


@pytest.mark.nightly(of=OF)
def test_a_linear_model_with_a_noisy_number_and_a_misclassified_category_by_chains():
    a_noisy_number_and_a_misclassified_category(nuts, 1000, draws=3000)


def separated():
    """Records of which one group never responds, under noise."""
    rng = np.random.default_rng(5)
    d = (rng.random(120) < 0.5).astype(float)
    y = d * (rng.random(120) < 0.4)
    return y, d + rng.normal(0, 0.8, 120)


LEVELS = np.array([0.1, 0.3, 0.5, 0.7, 0.9])


def quantiles_on_a_grid(y, z):
    """Of the intercept and the slope: the density on a grid of the two groups' levels and their share, summed up."""
    level, high = np.linspace(-50, 2, 209), np.linspace(-30, 30, 241)
    share = (np.arange(25) + 0.5) / 25
    a, b = level[:, None], high[None] - level[:, None]
    log_p = np.zeros((*b.shape, len(share)))
    for one, sign in zip(norm.pdf(z[:, None], [0, 1], 0.8), 2 * y - 1, strict=True):
        low, other = norm.cdf(sign * level)[:, None, None], norm.cdf(sign * high)[:, None]
        log_p += np.log(np.maximum(one[0] * low * (1 - share) + one[1] * other * share, 1e-300))
    log_p += (norm.logpdf(a, 0, 10) + norm.logpdf(b, 0, 5))[:, :, None]
    p = np.exp(log_p - log_p.max()).sum(axis=2)
    found = []
    for values in (np.broadcast_to(a, b.shape), b):
        at, cell = np.unique(values.round(6), return_inverse=True)
        mass = np.bincount(cell.ravel(), p.ravel()) / p.sum()
        found.append(np.interp(LEVELS, np.cumsum(mass) - mass / 2, at))
    return np.array(found)


def quantiles_by_chains(y, z):
    def model(y, factors):
        b = numpyro.sample("b", dist.Normal(0, jnp.array([10.0, 5.0])))
        pi = numpyro.sample("pi", dist.Uniform(0, 1))
        eta = jnp.stack([b[0], b[0] + b[1]])
        log_f = jnp.where(y[:, None] == 1, stats.norm.logcdf(eta), stats.norm.logcdf(-eta))
        log_pi = jnp.log(jnp.stack([1 - pi, pi]))
        numpyro.factor("data", jax.scipy.special.logsumexp(log_f + log_pi + jnp.log(factors), axis=1).sum())

    theirs, effective = nuts(model, jnp.array(y), jnp.array(norm.pdf(z[:, None], [0, 1], 0.8)), draws=20_000)
    assert effective > 1000
    return np.quantile(theirs["b"], LEVELS, axis=0).T


def a_skew_posterior_of_separation(sampler, draws, least, monkeypatch, quantiles=quantiles_on_a_grid, theirs=np.inf):
    """Far from normal, by both samplers: shares below the reference's quantiles.

    Of n effective draws there and m here a share has a standard error of √(.25 (1/n + 1/m)) at most; four of these.
    """
    y, z = separated()
    told, priors = Disclosure([Additive(("x",), [[0.64]], values=(0, 1))]), {"Intercept": (0, 10), "x": (0, 5)}
    if sampler == "hamiltonian":
        monkeypatch.setattr(Sample, "trusted", property(lambda sample: False))
    table = pl.DataFrame({"y": y, "x": z})
    ours = fit("y ~ x", table, told, family="probit", method="bayes", priors=priors, draws=draws)
    assert ours.posterior.sampler == sampler
    assert ours.checks["effective_draws"] > least
    shares = [
        (column[:, None] < bounds).mean(axis=0) for column, bounds in zip(ours.draws.T, quantiles(y, z), strict=True)
    ]
    np.testing.assert_allclose(shares, np.tile(LEVELS, (2, 1)), atol=4 * np.sqrt(0.25 * (1 / theirs + 1 / least)))


@pytest.mark.parametrize(("sampler", "draws", "least"), [("importance", 4_000, 1000), ("hamiltonian", 800, 100)])
def test_a_skew_posterior_of_separation_under_noise(sampler, draws, least, monkeypatch):
    monkeypatch.setattr(bayes, "hamiltonian_chains", partial(bayes.hamiltonian_chains, warm_up=(50, 50, 100, 50)))
    a_skew_posterior_of_separation(sampler, draws, least, monkeypatch)


@pytest.mark.nightly(of="tests/recovery/test_bayes_nuts.py::test_a_skew_posterior_of_separation_under_noise")
@pytest.mark.parametrize(("sampler", "draws", "least"), [("importance", 8_000, 1000), ("hamiltonian", 4_000, 500)])
def test_a_skew_posterior_of_separation_under_noise_by_chains(sampler, draws, least, monkeypatch):
    a_skew_posterior_of_separation(sampler, draws, least, monkeypatch, quantiles_by_chains, 1000)
