"""Which columns make classes of people alike, and which of a plan's keys nothing protects."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.finding import Findings
from sfumato.data.hidden import WAS, leaving
from sfumato.data.pair import Pair
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.data.roles import IDS, Role
from sfumato.data.traces import keys_of
from sfumato.errors import TooManyGroups
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.registry import measure_of
from sfumato.measures.risk.unchanged import unchanged
from sfumato.measures.subject import EVERYTHING, KEYS, RELEASED, STRATA, WIDE, Classes, Outsider
from sfumato.plan.plan import Plan
from sfumato.plan.unknown import unknown_columns
from sfumato.report.report import Assumed

__all__ = [
    "Exposed",
    "assumed",
    "beyond_chance",
    "classes_of",
    "exposed",
    "exposed_beside",
    "exposed_off_memory",
    "left_alone",
    "missing_rule",
    "refusals",
]

_MOST_LEFT = 0.5
"""What masking left as it was in more than this share of the records (of categories: beyond chance) is released."""
_NO_PART = (*IDS, Role.WEIGHT)

HARDLY_MASKED = (
    "{columns}: masking left most of the values as they were, so that they count among the released keys (group keys)."
)
NO_RISK = (
    "no risk was measured, since no variable has the role key and no step masks anything. Say under `variables` what "
    "an intruder may know (role: key) or must not learn (role: sensitive), and add a step that protects it; `sfumato "
    "init` drafts both"
)
_OF_GROUPS = {
    "linkage_nearest": "{measure: linkage_nearest, group: released, at_most: 0.2}",
    "uniques_kept": "{measure: uniques_kept, at_most: 0.05}",
}
UNBOUND = (
    "no limit says how many people may be found among values drawn within groups (swap with `group`). Add {limits}"
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
        Groups of classes: of keys, of strata, and of all that leaves as it was (`released`, `everything`).
    notes
        What is to be said of how they were chosen.
    released
        Columns that leave as they were, whatever their role, but for ids and for what the plan says is unknown.
    knowing
        Who knows these columns, and the true values of what was masked.
    others
        What `columns: others` of the plan's `unknown` stands for.
    """

    classes: tuple[Classes, ...]
    notes: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    knowing: tuple[Outsider, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The released keys that no step masks."""
        return next((c.by for c in self.classes if c.group == KEYS), ())

    @property
    def masked(self) -> tuple[str, ...]:
        """Masked columns whose true values count as known."""
        return next((each.masked for each in self.knowing if each.group == RELEASED), ())


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
        Or how much of each masked column it left so, where that was counted, see `left_alone`.
    """
    traces = plan.traces
    compared = () if pair is None or not pair.aligned else traces.masked
    told = dict(shares or {}) | {n: left_alone(pair, n) for n in compared if pair is not None and n in codebook}
    told |= dict.fromkeys(_in_groups(plan), 0.0)  # whose row it is, nobody can tell by these
    left = {n for n, share in told.items() if share > _MOST_LEFT}
    moved = {n for step in plan.steps if step.name == "swap_households" for n in step.changes}
    known = [n for n in codebook if codebook[n].role == Role.KEY or n in traces.keys]
    as_was = tuple(n for n in known if n in left and n not in moved and codebook[n].numeric)
    keys = [n for n in known if n not in traces.masked or n in as_was]
    strata = [n for n in traces.strata if n in codebook and codebook[n].role not in _NO_PART]
    notes = (HARDLY_MASKED.format(columns=", ".join(as_was)),) if as_was else ()
    touched = {n for n in traces.masked if n not in left}
    return _with_all_that_leaves(plan, codebook, touched, Exposed(classes_of(keys, strata), notes))


def _in_groups(plan: Plan) -> list[str]:
    """Columns whose values were drawn within groups of similar records, and leave nothing else of it unchanged."""
    return [n for step in plan.steps if getattr(step, "group", None) for n in step.changes]


def exposed_beside(pair: Pair, codebook: Codebook) -> Exposed:
    """The groups of those who know every column that left as it was, where no plan says which ones did.

    Parameters
    ----------
    pair
        The original and the protected table.
    codebook
        Of the protected table.
    """
    if not pair.aligned:
        return Exposed(())
    codebook = codebook.only([n for n in codebook if n != pair.record])
    both = [n for n in codebook if n in pair.before.columns and n in pair.after.columns]
    changed = {n for n in both if left_alone(pair, n) <= _MOST_LEFT and not _recoded(pair, n)}
    return _with_all_that_leaves(Plan(), codebook, changed, Exposed(()))


def _recoded(pair: Pair, column: str) -> bool:
    """Whether equal values became equal ones, so that a column tells less and nothing wrong."""
    values = pl.DataFrame({"old": pair.before[column], "new": pair.after[column]})
    several = values.filter(pl.len().over("old") > 1)
    return several.height > _MOST_LEFT * values.height and several.n_unique() == several["old"].n_unique()


def _with_all_that_leaves(plan: Plan, codebook: Codebook, touched: Set[str], seen: Exposed) -> Exposed:
    """The groups of those who know every column that leaves as it was, whatever its role; `touched` ones do not."""
    traces = plan.traces
    named = {n for step in plan.steps if step.replaces for n in step.changes}  # nobody outside knows the new names
    people = [n for n in codebook if codebook[n].role not in (*IDS, Role.IDENTIFIER) and n not in named]
    looked_up = {*keys_of(traces, codebook), *traces.strata}
    others = tuple(n for n in people if n not in looked_up)
    unknown = set(unknown_columns(plan.unknown, others, decided=True))
    free = [n for n in people if n not in touched]
    released = tuple(n for n in free if n not in unknown)
    masked = [n for n in people if n in traces.masked or n in touched]
    knowing = [Outsider(RELEASED, released, tuple(n for n in masked if n not in unknown))]
    groups = [Classes(RELEASED, released)] if set(released) > set(seen.keys) else []
    if unknown:
        knowing.append(Outsider(EVERYTHING, tuple(free), tuple(masked)))
        groups += [Classes(EVERYTHING, tuple(free))] if set(free) > set(released) else []
    classes = (*seen.classes, *groups)
    return replace(seen, classes=classes, released=released, knowing=tuple(knowing), others=others)


def assumed(plan: Plan, seen: Exposed) -> Assumed:
    """Who was taken to know what, for the documentation; what is still open is no statement.

    Parameters
    ----------
    plan
        The plan.
    seen
        The classes of its release.
    """
    said = tuple((each.of(seen.others), each.because) for each in plan.unknown if each.decided)
    return Assumed(seen.keys, seen.released, said, seen.masked)


def left_alone(pair: Pair, column: str) -> float:
    """How much of a masked column masking left as it was: the share of its values; of categories beyond chance.

    Of categories it is Cohen's kappa (1960, doi:10.1177/001316446002000104): exchanged at random, two values in three
    of a column of two categories may stay, and nobody can tell which.

    Parameters
    ----------
    pair
        The table before and after, aligned.
    column
        A column; 0 where one of the tables lacks it.

    Examples
    --------
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m", "m"]})
    >>> left_alone(Pair(frame, frame[[0, 2, 1, 3]], Codebook(), aligned=True), "sex")
    0.0
    """
    if column not in pair.before.columns or column not in pair.after.columns:
        return 0.0
    share = unchanged(pair.before, pair.after, column, pair.codebook)
    if share is None:
        return 0.0
    if column in pair.codebook and pair.codebook[column].numeric and pair.before[column].dtype.is_numeric():
        return share
    margins = (side[column].cast(pl.String).value_counts(name="n") for side in (pair.before, pair.after))
    return beyond_chance(share, *margins)


def beyond_chance(share: float, before: pl.DataFrame, after: pl.DataFrame) -> float:
    """Cohen's kappa of a share of agreement, where categories (first column) were so frequent (`n`) before and after.

    Examples
    --------
    >>> margin = pl.DataFrame({"sex": ["f", "m"], "n": [1, 1]})
    >>> beyond_chance(0.75, margin, margin)
    0.5
    """
    name = before.columns[0]
    both = before.drop_nulls(name).join(after.drop_nulls(name), on=name, suffix=" after")
    total = math.prod(int(side.drop_nulls(name)["n"].sum()) for side in (before, after))
    chance = float((both["n"].cast(pl.Float64) * both["n after"].cast(pl.Float64)).sum()) / total if total else 0.0
    return (share - chance) / (1 - chance) if chance < 1 else share


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
    asked = [n for n in plan.traces.masked if n in book and f"{WAS}{n}" in after.schema]
    amounts = [n for n in asked if book[n].numeric and after.schema[f"{WAS}{n}"].is_numeric()]
    shares = _shares_left(after, amounts)
    for n in asked:
        if n not in amounts:
            shares[n] = _category_left(after, n)
    return exposed(plan, book, shares=shares)


def _category_left(after: Parted, column: str) -> float:
    """How much of the categories of a masked column stayed beyond chance; all of it where there are too many."""
    try:
        counts = after.ask(Counts((f"{WAS}{column}", column)))
    except TooManyGroups:
        return 1.0
    known = counts.select(pl.col(f"{WAS}{column}", column).cast(pl.String), pl.col(COUNT).alias("n")).drop_nulls()
    total = int(known["n"].sum())
    if not total:
        return 0.0
    same = int(known.filter(pl.col(f"{WAS}{column}") == pl.col(column))["n"].sum()) / total
    margins = [known.group_by(pl.col(n).alias("value")).agg(pl.col("n").sum()) for n in (f"{WAS}{column}", column)]
    return beyond_chance(same, *margins)


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


def refusals(
    plan: Plan, codebook: Codebook, keys: Sequence[str], findings: Findings, known: Collection[str] = ()
) -> tuple[str, ...]:
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
    known
        Columns whose true values whoever knows all that leaves has, masked ones.

    Returns
    -------
    tuple of str
        Each a clause that says what to do; it names columns only.
    """
    told = []
    drawn = _OF_GROUPS if _in_groups(plan) else {}
    told_of = (f for f in findings if f.value is not None and (f.group not in WIDE or f.measure in drawn))
    if not any(_of_risk(f.measure) for f in told_of):
        told.append(NO_RISK)
    coarsened = {n for step in plan.steps if step.coarsens and not step.stays_comparable for n in step.changes}
    strata = plan.traces.strata
    bare = [n for n in keys if n in codebook and n not in coarsened and n not in strata]
    bound = any(f.group == KEYS and f.limit is not None for f in findings)
    if bare and not bound:
        told.append(UNTOUCHED.format(columns=", ".join(bare)))
    if set(_in_groups(plan)) & set(known) and (free := _unbound(findings)):
        told.append(UNBOUND.format(limits=" and ".join(free)))
    return tuple(told)


def _unbound(findings: Findings) -> list[str]:
    """Limits that are missing: in no class are columns drawn within groups, so that only these figures tell of them."""
    bound = {f.measure for f in findings if f.group == RELEASED and f.limit is not None}
    return [text for name, text in _OF_GROUPS.items() if name not in bound]


def _of_risk(name: str) -> bool:
    """Whether a figure says how a person could be found or what be learnt: that values stayed does not."""
    measure = measure_of(name)
    return measure is not None and measure.of_risk and name != "unchanged"
