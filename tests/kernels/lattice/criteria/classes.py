"""Classes for tests of criteria: random ones, and those of the generalised Adult file."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.lattice.criteria.criterion import Block
from sfumato.kernels.lattice.patterns import class_of_rows
from tests.kernels.lattice.conftest import read

REFERENCE = np.array([40, 30, 20, 10])


def block(*histograms, reference=REFERENCE):
    """Classes in which every record has a value."""
    counts = np.array(histograms)
    return Block(counts.sum(axis=1), {0: counts}, [np.array(reference)])


def random_block(seed, classes=400):
    """Classes of a few records each, some without any value."""
    counts = np.random.default_rng(seed).poisson(1.2, (classes, 4))
    return Block(counts.sum(axis=1) + 1, {0: counts}, [REFERENCE])


def joined(a, b):
    """Each class of one block with the class of the other at its place."""
    return Block(a.sizes + b.sizes, {0: a.histograms[0] + b.histograms[0]}, a.references)


def adult_classes(shared_data):
    """The file that the notes give figures of: sensitive = occupation, values sorted as text."""
    names, *records = read(shared_data / "adult" / "adult_generalised_k5.csv")
    columns = [np.unique(column, return_inverse=True)[1] for column in zip(*records, strict=True)]
    occupation = columns.pop(names.index("occupation"))
    which, first = class_of_rows(columns)
    width = int(occupation.max()) + 1
    counts = np.bincount(which * width + occupation, minlength=len(first) * width).reshape(-1, width)
    return Block(counts.sum(axis=1), {0: counts}, [counts.sum(axis=0)])


def claims_hold(criterion, seed):
    """Whether safe classes stay safe as the criterion claims, over pairs of random classes."""
    a, b = random_block(seed), random_block(seed + 1000)
    good_a, good_b, bad = ~criterion.fails(a), ~criterion.fails(b), criterion.fails(joined(a, b))
    complete = (a.histograms[0].sum(axis=1) > 0) | (criterion.variable is None)
    holds = not (criterion.any_union and (good_a & complete & bad).any())
    return holds and not (criterion.safe_union and (good_a & good_b & bad).any())
