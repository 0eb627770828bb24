"""Dataset A of the probabilistic anonymisation paper (Avraam, Boyd, Goldstein and Burton 2018).

Its counts were recovered from the published tables: of the three cells that print cuts off, one triple only gives all
published estimates, standard errors and variances.
"""

import numpy as np
import polars as pl

from sfumato.data.disclosure import Additive, Disclosure

NAMES = ("asthma", "smoke", "breastfed", "mould")
COUNTS = {
    "0000": 380, "0001": 181, "0010": 1691, "0011": 1308, "0100": 357, "0101": 227, "0110": 758, "0111": 567,
    "1000": 91, "1001": 61, "1010": 348, "1011": 310, "1100": 133, "1101": 66, "1110": 200, "1111": 159,
}  # fmt: skip
FORMULA = "asthma ~ smoke + breastfed + mould"
TRUTH = np.array([-0.80918, 0.12402, -0.13128, 0.05292])
TRUTH_SE = np.array([0.04270, 0.03624, 0.04162, 0.03508])


def dataset_a():
    """The 6,837 records of Dataset A, shape (n, 4)."""
    return np.repeat([[float(c) for c in key] for key in COUNTS], list(COUNTS.values()), axis=0)


def noisy(records, variance, clipped, rng):
    """A released table with noise on the three covariates, and its disclosure."""
    z = records.copy()
    z[:, 1:] += rng.normal(0, variance**0.5, size=(len(z), 3))
    if clipped:
        z[:, 1:] = z[:, 1:].clip(0, 1)
    part = Additive(NAMES[1:], variance * np.eye(3), clipped=clipped, values=(0, 1))
    return pl.DataFrame(z, schema=NAMES), Disclosure([part])


def exact(records):
    """The table as it was before protection."""
    return pl.DataFrame(records, schema=NAMES)


def normal(x, mean, sd):
    """Density of a normal law; scipy's checks of its arguments take most of a brute-force likelihood's time."""
    return np.exp(log_normal(x, mean, sd))


def log_normal(x, mean, sd):
    """Its logarithm."""
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
