"""Which columns make classes of people alike, and which of a plan's keys nothing protects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.finding import Findings
from sfumato.data.hidden import WAS, leaving
from sfumato.data.pair import Pair
from sfumato.data.query import Folded
from sfumato.data.roles import Role
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.registry import measure_of
from sfumato.measures.risk.unchanged import unchanged
from sfumato.measures.subject import KEYS, STRATA, Classes
from sfumato.plan.plan import Plan

__all__ = ["Exposed", "classes_of", "exposed", "exposed_off_memory", "missing_rule", "refusals"]

_MOST_LEFT = 0.5
"""A number that masking left as it was in more than this share of the records counts as released."""
_NO_PART = (Role.RECORD, Role.HOUSEHOLD, Role.WEIGHT)

HARDLY_MASKED = (
    "{columns}: masking left most of the values as they were, so that they count among the released keys (group keys)."
)
NO_RISK = (
    "no risk was measured, since no variable has the role key and no step masks anything. Say under `variables` what "
    "an intruder may know (role: key) or must not learn (role: sensitive), and add a step that protects it; `sfumato "
    "init` drafts both"
)
UNTOUCHED = (
    "nothing protects {columns}, which an intruder may know: no step recodes, no masking step stratifies on it (`by`), "
    "and no limit is set on the released keys. Add a limit, for instance {{measure: k_anonymity, group: keys, "
    "at_least: 5}} (suppress_strata leaves out who is left alone), or recode or drop what it names"
)


@dataclass(frozen=True)
class Exposed:
    """Columns whose combinations an intruder can look up in a release.

    Parameters
    ----------
    classes
        Groups of classes: of keys, of strata.
    notes
        What is to be said of how they were chosen.
    """

    classes: tuple[Classes, ...]
    notes: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The released keys that no step masks."""
        return next((c.by for c in self.classes if c.group == KEYS), ())


def classes_of(keys: Sequence[str], strata: Sequence[str]) -> tuple[Classes, ...]:
    """Groups of classes; one without columns is none.

    Examples
    --------
    >>> classes_of(["age"], [])
    (Classes(group='keys', by=('age',)),)
    """
    groups = ((KEYS, keys), (STRATA, strata))
    return tuple(Classes(group, tuple(by)) for group, by in groups if by)


def exposed(
    plan: Plan, codebook: Codebook, pair: Pair | None = None, *, shares: Mapping[str, float] | None = None
) -> Exposed:
    """The classes of a release.

    Parameters
    ----------
    plan
        The plan that made it.
    codebook
        Of the release.
    pair
        The table before and after masking, to see what masking left as it was.
    shares
        Or the share of the values of numeric keys that it left so, where that was counted.
    """
    traces = plan.traces
    places = {n for step in plan.steps if step.name == "swap_households" for n in step.changes}
    compared = () if pair is None or not pair.aligned else tuple(n for n in traces.masked if n not in places)
    left = tuple(n for n in compared if pair is not None and _left(pair, codebook, n))
    left += tuple(n for n in traces.masked if n not in places and (shares or {}).get(n, 0) > _MOST_LEFT)
    known = [n for n in codebook if codebook[n].role == Role.KEY or n in traces.keys]
    keys = [n for n in known if n not in traces.masked or n in left]
    strata = [n for n in traces.strata if n in codebook and codebook[n].role not in _NO_PART]
    notes = (HARDLY_MASKED.format(columns=", ".join(left)),) if left else ()
    return Exposed(classes_of(keys, strata), notes)


def exposed_off_memory(plan: Plan, after: Parted) -> Exposed:
    """The classes of a release, as `sfumato.release.classes.exposed` has them.

    Parameters
    ----------
    plan
        The plan that made it.
    after
        The released data, with true values beside them in hidden columns.
    """
    book = after.codebook.only(leaving(after.codebook))
    asked = [n for n in plan.traces.masked if n in book and book[n].role == Role.KEY and f"{WAS}{n}" in after.schema]
    shares = _shares_left(after, [n for n in asked if book[n].numeric and after.schema[f"{WAS}{n}"].is_numeric()])
    return exposed(plan, book, shares=shares)


def _shares_left(after: Parted, columns: Sequence[str]) -> dict[str, float]:
    """The share of each column's values that masking left as they were."""
    if not columns:
        return {}
    book = after.codebook
    had = {n: ~Codebook({f"{WAS}{n}": book[n]}).missing(f"{WAS}{n}", after.schema[f"{WAS}{n}"]) for n in columns}

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        same = {n: pl.col(n).cast(pl.Float64) == pl.col(f"{WAS}{n}").cast(pl.Float64) for n in columns}
        told = [(x & same[n].fill_null(False)).sum().cast(pl.Int64).alias(f"same {n}") for n, x in had.items()]
        return batch.select(*told, *(x.sum().cast(pl.Int64).alias(f"had {n}") for n, x in had.items()))

    told = after.ask(Folded(tuple(x for n in columns for x in (n, f"{WAS}{n}")), f, lambda frames: frames.sum()))
    counts = told.row(0, named=True)
    return {n: counts[f"same {n}"] / counts[f"had {n}"] for n in columns if counts[f"had {n}"]}


def missing_rule(plan: Plan) -> str:
    """What a missing key is in a plan's release: as the last step that changes its `keys` takes it, else a category.

    Such a step says so by `missing`, see `sfumato.measures.measuring.Measuring`.

    Examples
    --------
    >>> missing_rule(Plan())
    'category'
    """
    named = [(set(getattr(step, "keys", ())), step) for step in plan.steps]
    rules = [getattr(step, "missing", None) for keys, step in named if keys & set(getattr(step, "changes", keys))]
    return str(rules[-1]) if rules and rules[-1] is not None else CATEGORY


def _left(pair: Pair, codebook: Codebook, column: str) -> bool:
    """Whether masking left a number that is a key as it was in most records."""
    if column not in pair.before.columns or column not in codebook or codebook[column].role != Role.KEY:
        return False
    if not pair.codebook[column].numeric or not pair.before.schema[column].is_numeric():
        return False
    share = unchanged(pair.before, pair.after, column, pair.codebook)
    return share is not None and share > _MOST_LEFT


def refusals(plan: Plan, codebook: Codebook, keys: Sequence[str], findings: Findings) -> tuple[str, ...]:
    """Why a release is refused although no limit is exceeded: nothing was measured, or a key is left to itself.

    Parameters
    ----------
    plan
        The plan that made it.
    codebook
        Of the release.
    keys
        Its keys that no step masks.
    findings
        With the limits applied.

    Returns
    -------
    tuple of str
        Each a clause that says what to do; it names columns only.
    """
    told = []
    if not any(f.value is not None and _of_risk(f.measure) for f in findings):
        told.append(NO_RISK)
    coarsened = {n for step in plan.steps if step.coarsens and not step.stays_comparable for n in step.changes}
    strata = plan.traces.strata
    bare = [n for n in keys if n in codebook and n not in coarsened and n not in strata]
    bound = any(f.group == KEYS and f.limit is not None for f in findings)
    if bare and not bound:
        told.append(UNTOUCHED.format(columns=", ".join(bare)))
    return tuple(told)


def _of_risk(name: str) -> bool:
    """Whether a figure says how a person could be found or what be learnt: that values stayed does not."""
    measure = measure_of(name)
    return measure is not None and measure.of_risk and name != "unchanged"
