"""Uniques: records alone with their keys, in the file and, as an estimate, in the population it was drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.kernels.classes.population_uniques import (
    pitman_uniques,
    slide_negative_binomial_uniques,
    zayatz_uniques,
)
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.patterns import Patterns, class_findings, patterns
from sfumato.measures.risk.uniques_units import unit_uniques
from sfumato.measures.subject import Subject

__all__ = [
    "MEASURE",
    "uniques_population_pitman",
    "uniques_population_snb",
    "uniques_population_zayatz",
    "uniques_sample",
]

Ints = NDArray[np.int64]
Estimator = Callable[[Ints, Ints, float], float | None]

NO_FIT = "Class sizes do not fit the model behind {}, so it has no value."


def uniques_sample(data: Dataset, by: Sequence[str], *, missing: str = CATEGORY) -> float | None:
    """Share of the records that are alone with their keys.

    Whoever knows the keys of such a person, and that the person is in the file, has found the record. Where the file is
    a sample, others in the population may have the same keys: see `uniques_population_pitman`.

    Source: Bethlehem, Keller & Pannekoek (1990), doi:10.1080/01621459.1990.10475304.

    Parameters
    ----------
    data, by, missing
        As in `sfumato.measures.patterns.patterns`.

    Returns
    -------
    float or None
        None where there is no record or no key.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> uniques_sample(sf.read(pl.DataFrame({"sex": ["f", "m", "m", "x"]})), ["sex"])
    0.5
    """
    found = patterns(data, by, missing)
    return None if found is None else _share(found)


def uniques_population_zayatz(data: Dataset, by: Sequence[str], fraction: float) -> float | None:
    """Estimate how many people of the population are alone with their keys, by Zayatz's rule.

    Takes the population's classes to have the sizes of the file's, which holds for large fractions. Whoever knows the
    keys of such a person finds the record, if it is there, for certain; the file is taken for a simple random sample,
    and a missing key for a category.

    Source: Zayatz (1991); compared with the others by Dankar et al. (2012), doi:10.1186/1472-6947-12-66.

    Parameters
    ----------
    data, by
        As in `sfumato.measures.patterns.patterns`.
    fraction
        Share of the population that the file holds, above 0 and at most 1.

    Returns
    -------
    float or None
        People; None where there is no record or no key.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> uniques_population_zayatz(sf.read(pl.DataFrame({"sex": ["f", "m", "m"]})), ["sex"], 1.0)
    1.0
    """
    return _estimated(patterns(data, by), zayatz_uniques, fraction)


def uniques_population_pitman(data: Dataset, by: Sequence[str], fraction: float) -> float | None:
    """Estimate how many people of the population are alone with their keys, by Pitman's model of class sizes.

    Good for small fractions. What it protects against, parameters and result as in `uniques_population_zayatz`; None
    also where the model has no maximum of its likelihood.

    Source: Hoshino (2001); compared with the others by Dankar et al. (2012), doi:10.1186/1472-6947-12-66.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> uniques_population_pitman(sf.read(pl.DataFrame({"id": [1, 2, 3]})), ["id"], 0.5)
    6.0
    """
    return _estimated(patterns(data, by), pitman_uniques, fraction)


def uniques_population_snb(data: Dataset, by: Sequence[str], fraction: float) -> float | None:
    """Estimate how many people of the population are alone with their keys, by the slide negative binomial model.

    What it protects against, parameters and result as in `uniques_population_zayatz`; None also where no parameters
    of the model fit.

    Source: Chen & Keller-McNulty (1998); compared with the others by Dankar et al. (2012),
    doi:10.1186/1472-6947-12-66.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> uniques_population_snb(sf.read(pl.DataFrame({"sex": ["f", "m", "m"]})), ["sex"], 1.0)
    1.0
    """
    return _estimated(patterns(data, by), slide_negative_binomial_uniques, fraction)


def _share(found: Patterns) -> float:
    return float(found.records[found.alike < 2].sum()) / found.total


def _estimated(found: Patterns | None, estimator: Estimator, fraction: float) -> float | None:
    if found is None:
        return None
    sizes, frequencies = np.unique(found.people, return_counts=True)
    return estimator(sizes, frequencies.astype(np.int64), fraction)


_ESTIMATORS: dict[str, Estimator] = {
    "uniques_population_zayatz": zayatz_uniques,
    "uniques_population_pitman": pitman_uniques,
    "uniques_population_snb": slide_negative_binomial_uniques,
}


def _compute(subject: Subject) -> Findings:
    fraction = subject.how.fraction
    found = class_findings(subject, [("uniques_sample", None, _share)]) + unit_uniques(subject)
    if fraction is None:
        return found
    estimates = class_findings(
        subject, [(n, None, partial(_estimated, estimator=e, fraction=fraction)) for n, e in _ESTIMATORS.items()]
    )
    unfit = [] if estimates.notes else [f.measure for f in estimates if f.value is None]
    return found + estimates + Findings(notes=tuple(NO_FIT.format(name) for name in unfit))


_WHAT = (
    "Estimated people of the population who are alone with their combination of values, from the share of the "
    "population that the file holds (`--fraction`). "
)


def _estimate(name: str, by: str, told: str) -> Figure:
    return Figure(
        name,
        title=f"Population uniques ({by})",
        what=_WHAT + told,
        form="count",
        baseline="Original",
        whole="population",
        aim=Aim.ALIKE,
    )


MEASURE = Measure(
    family="groups",
    place=14,
    doing="records alone in their groups",
    needs=frozenset({"table", "keys", "strata"}),
    figures=(
        Figure(
            "uniques_sample",
            title="Records alone with their values",
            what="Share of the records that no other record shares its combination of values with. Attacks person and "
            "household: share of these that are alone by all their rows, as far as an id that leaves joins them.",
            form="share",
            published="rate",
            baseline="Original",
            aim=Aim.ALIKE,
            attacker="unique combination",
            clause="{} of the records are unique",
        ),
        _estimate("uniques_population_zayatz", "Zayatz", "By the sizes of groups in the file: for large shares."),
        _estimate("uniques_population_pitman", "Pitman", "By Pitman's model of group sizes: for small shares."),
        _estimate("uniques_population_snb", "slide negative binomial", "By a negative binomial model of group sizes."),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
