"""The verdict on a release: whether it holds for somebody who knows all that leaves, or only if nobody does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.data.profile import profile
from sfumato.data.roles import IDS, Role
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.saying import listed
from sfumato.measures.subject import KEYS, RELEASED
from sfumato.plan.limits import Limit, apply_limits
from sfumato.plan.plan import Plan
from sfumato.plan.spelling import yaml_list
from sfumato.plan.unknown import ORDER, unknown_columns
from sfumato.release.classes import Exposed
from sfumato.report.report import Report

__all__ = [
    "Judged",
    "Verdict",
    "judge",
    "open_columns",
    "open_ids",
    "to_copy",
    "to_decide",
    "undecided_words",
    "verdict_of_risk",
]

Verdict = Literal["holds", "exceeded", "undecided"]
MOST_NAMED = 3
_TO_COPY = """unknown:
  - {{columns: {columns}, because: "?"}}"""
_NEW_IDS = "Give new ids by a last step: {{do: pseudonymise, columns: {columns}, scope: table, format: number}}"
_NEW_LINKED = "Give new ids that still join, in every table that has them: {{do: pseudonymise, columns: {columns}}}"
_NEW_ORDER = "Leave `order: input` out, and records leave in an order that tells nothing."


@dataclass(frozen=True)
class Judged:
    """A verdict.

    Parameters
    ----------
    verdict
        `holds`: every limit is met by whoever knows all that leaves, and nothing else stands against the release.
        `undecided`: that would be so if nobody knew the open columns. `exceeded`: not even then.
    undecided
        The open columns, where that is the verdict.
    """

    verdict: str
    undecided: tuple[str, ...] = ()


def open_ids(plan: Plan, entering: Codebook, released: Codebook, rows: PolarsDataset | None = None) -> tuple[str, ...]:
    """Ids that leave as they were and of which the plan does not say by name that nobody knows them.

    Parameters
    ----------
    plan
        The plan.
    entering, released
        What is known of the variables before the first step, and of the released ones.
    rows
        The table before the first step, where it is in memory: a column whose role is `other` and which `init` would
        take for the id of records or households is one.

    Returns
    -------
    tuple of str
        `order` among them where the plan keeps the order of the input, which is an id too.
    """
    replaced = {n for step in plan.steps if step.replaces for n in step.changes}
    ids = [n for n in released if released[n].role in IDS and n not in replaced]
    if rows is not None:
        ids += [n for n in _like_ids(plan, entering, released, rows) if n not in replaced]
    ids += [ORDER] if plan.order == "input" else []
    named = set(unknown_columns(plan.unknown, (), decided=True))
    return tuple(n for n in dict.fromkeys(ids) if n not in named)


def _like_ids(plan: Plan, entering: Codebook, released: Codebook, rows: PolarsDataset) -> list[str]:
    changed = set(plan.traces.masked) | set(plan.traces.late)
    plain = [n for n in released if n in entering and released[n].role == Role.OTHER and n not in changed]
    if not plain:
        return []
    known = Codebook({n: entering[n] for n in plain})
    has_record = bool(entering.with_role(Role.RECORD))
    guesses = profile(rows.frame.select(plain), known)
    # a number of its own for each record is the id, if none is said
    wanted = (Role.PERSON, Role.HOUSEHOLD) if has_record else IDS
    return [g.name for g in guesses if g.variable.role in wanted]


def open_columns(plan: Plan, seen: Exposed, ids: Sequence[str]) -> tuple[str, ...]:
    """Columns on which a decision may be wanting: released ones that are no keys or strata, ids, those of a `"?"`.

    Parameters
    ----------
    plan
        The plan.
    seen
        The classes of its release.
    ids
        From `open_ids`.
    """
    asked = unknown_columns(plan.unknown, seen.others, decided=False)
    beside = [n for n in seen.released if n in seen.others]
    return tuple(dict.fromkeys((*ids, *beside, *asked)))


def judge(
    findings: Findings,
    limits: Sequence[Limit],
    refusals: Sequence[str],
    left_open: Sequence[str],
    ids: Sequence[str],
    again: Callable[[Sequence[str]], Findings],
) -> Judged:
    """Give the verdict on a release.

    Parameters
    ----------
    findings
        Every figure, limits not applied.
    limits
        Of the plan.
    refusals
        What stands against the release whatever its limits say.
    left_open
        From `open_columns`.
    ids
        From `open_ids`.
    again
        Measures group `released` once more as if nobody knew these columns; called only where it decides.

    Examples
    --------
    >>> from sfumato.data.finding import Finding
    >>> found = [Finding("uniques_sample", group=g, value=v) for g, v in (("keys", 0.0), ("released", 0.2))]
    >>> judge(Findings(tuple(found)), [], [], ["town"], [], lambda left: Findings())
    Judged(verdict='undecided', undecided=('town',))
    """
    if refusals:
        return Judged("exceeded")
    if _keeps(findings, limits) and not ids and not _singles_out(findings):
        return Judged("holds")
    if not left_open:
        return Judged("exceeded")
    known = Findings(tuple(f for f in findings if f.group != RELEASED)) + again(left_open)
    speaking = [x for x in limits if x.group != RELEASED or any(x.binds(f) for f in known)]  # of nothing: nobody knows
    return Judged("undecided", tuple(left_open)) if _keeps(known, speaking) else Judged("exceeded")


def verdict_of_risk(findings: Findings) -> Verdict | None:
    """Whether what was measured keeps to the limits that bind it; None where none does. Nothing leaves here.

    Examples
    --------
    >>> verdict_of_risk(Findings()) is None
    True
    """
    if all(f.ok is None for f in findings):
        return None
    return "holds" if findings.ok else "exceeded"


def _keeps(findings: Findings, limits: Sequence[Limit]) -> bool:
    """Whether all limits are met, also by whoever knows all that leaves."""
    return apply_limits(findings, limits).ok


def _singles_out(findings: Findings) -> bool:
    """Whether what leaves beside the keys singles out a person whom the keys do not."""
    alone = {f.group: f.value for f in findings.select("uniques_sample") if f.value is not None and f.attack is None}
    return alone.get(RELEASED, 0.0) > alone.get(KEYS, 0.0)


def to_decide(report: Report, plan: Plan, linked: Collection[str] = ()) -> str:
    """Say what is to be decided on an undecided release, as `undecided_words` does; empty where it is not undecided.

    Parameters
    ----------
    report
        The custodian's.
    plan
        As run.
    linked
        Columns by which a plan of several tables joins this one to another.
    """
    judged = Judged(report.verdict, report.undecided)
    return undecided_words(judged, report.open_ids, linked=linked, ordered=plan.order == "input")


def to_copy(report: Report, plan: Plan, linked: Collection[str] = ()) -> tuple[str, ...]:
    """The lines of `to_decide` alone, to copy into the plan; parameters as there."""
    return tuple(to_decide(report, plan, linked).split("\n")[1:])


def undecided_words(judged: Judged, ids: Sequence[str], *, linked: Collection[str] = (), ordered: bool = False) -> str:
    """Say that a release holds only if nobody knows some columns, with the lines of a plan in which that is decided.

    Parameters
    ----------
    judged
        The verdict.
    ids
        From `open_ids`.
    linked
        Those of them by which tables are to be joined: numbers of each table's own would join nothing.
    ordered
        Whether `order` among them is that of the input.

    Returns
    -------
    str
        Empty for another verdict. The reason in the lines is `"?"`: it is the custodian's to give.

    Examples
    --------
    >>> print(undecided_words(Judged("undecided", ("town", "kids")), ()))
    Undecided: holds only if nobody knows town and kids. Say so in the plan, with the reason in place of "?":
    unknown:
      - {columns: [town, kids], because: "?"}
    """
    if judged.verdict != "undecided":
        return ""
    told = judged.undecided
    more = [f"{len(told) - MOST_NAMED} more"] if told[MOST_NAMED:] else []
    said = f"Undecided: holds only if nobody knows {listed([*told[:MOST_NAMED], *more])}. "
    columns = [n for n in told if n not in ids or (ordered and n == ORDER)]
    replaceable = [n for n in ids if not (ordered and n == ORDER)]
    own = [n for n in replaceable if n not in linked]
    joining = [n for n in replaceable if n in linked]
    lines = [_NEW_IDS.format(columns=yaml_list(own))] if own else []
    lines += [_NEW_LINKED.format(columns=yaml_list(joining))] if joining else []
    lines += [_NEW_ORDER] if ordered and ORDER in ids else []
    if columns:
        said += 'Say so in the plan, with the reason in place of "?":'
        lines.insert(0, _TO_COPY.format(columns=yaml_list(columns)))
    return "\n".join([said.strip(), *lines])
