"""k-map: the fewest people of the population that share one combination of key values, by sampling weights."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.patterns import Patterns, class_findings, patterns
from sfumato.measures.subject import Subject, weight_of

__all__ = ["MEASURE", "k_map"]


def k_map(data: Dataset, by: Sequence[str], *, missing: str = CATEGORY) -> float | None:
    """Smallest number of people of the population that share their key values, as sampling weights estimate it.

    It answers an intruder who does not know who is in the file: one over it is the risk of the record that is easiest
    to look up in a register of everybody (journalist risk). Whoever knows that a person is in the file does better: see
    `k_anonymity`. A sum of weights is an estimate, and a poor one of a class of few records.

    Source: Sweeney (2002), doi:10.1142/S0218488502001648 (k-map); El Emam and Dankar (2008), doi:10.1197/jamia.M2716.

    Parameters
    ----------
    data, by, missing
        As in `sfumato.measures.patterns.patterns`; weights are the column with the role weight.

    Returns
    -------
    float or None
        People, no fewer than the class has records; None without weights, records or keys.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> book = Codebook({"w": Variable(role="weight", kind="continuous")})
    >>> people = sf.read(pl.DataFrame({"sex": ["f", "m", "m"], "w": [7.0, 2.0, 3.0]}), codebook=book)
    >>> k_map(people, ["sex"])
    5.0
    """
    found = patterns(data, by, missing)
    return None if found is None else _fewest(found)


def _fewest(found: Patterns) -> float | None:
    return None if found.population is None else float(found.population.min())


def _compute(subject: Subject) -> Findings:
    if weight_of(subject.after.codebook) is None:
        return Findings()
    return class_findings(subject, [("k_map", None, _fewest)])


MEASURE = Measure(
    family="groups",
    place=11,
    doing="k-map",
    needs=frozenset({"table", "keys", "strata"}),
    figures=(
        Figure(
            "k_map",
            title="Fewest people of the population alike (k-map)",
            what="The fewest people of the population that share one combination of values, as sampling weights "
            "estimate it. It is for an intruder who does not know who is in the file; there is none without weights.",
            form="count",
            better="high",
            baseline="Original",
            whole="smallest group",
            aim=Aim.ALIKE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
