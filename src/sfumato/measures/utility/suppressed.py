"""What was suppressed: the share of the records, and of the cells of each variable, that steps took out.

Beside it the share of the records whose household was at risk and could not be exchanged.
"""

from __future__ import annotations

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.suppression import Suppression
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.saying import capital, percent, value_of, with_value
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings"]


def findings(gone: Suppression) -> Findings:
    """Give the line `suppressed_records` where steps leave records out, and `suppressed_cells` of each variable.

    Where households are exchanged, `unswapped_records` are those at risk that found no partner and stay.

    Shares are of the records before anything was coarsened or masked. Records that a random sample left out are no
    part, nor are values that were missing already.

    Parameters
    ----------
    gone
        What steps took out.

    Examples
    --------
    >>> [(f.measure, f.variable, f.value) for f in findings(Suppression(2, {"age": 1}, 10))]
    [('suppressed_records', None, 0.2), ('suppressed_cells', 'age', 0.1)]
    """
    if not gone.of:
        return Findings()
    lines = [] if gone.records is None else [Finding("suppressed_records", value=gone.records / gone.of)]
    lines += [Finding("suppressed_cells", name, value=count / gone.of) for name, count in gone.cells.items()]
    lines += [] if gone.unswapped is None else [Finding("unswapped_records", value=gone.unswapped / gone.of)]
    return Findings(tuple(lines))


def _compute(subject: Subject) -> Findings:
    return findings(subject.suppression or Suppression())


def _say(findings: Findings, fraction: float) -> str | None:
    stayed = [f for f in with_value(findings, "unswapped_records") if value_of(f) > 0]
    if not stayed:
        return None
    share = capital(percent(value_of(stayed[0])))
    return f"{share} of the records are of households at risk in their area that found no partner, and stay."


MEASURE = Measure(
    family="values",
    place=40,
    doing="what was suppressed",
    needs=frozenset({"suppression"}),
    figures=(
        Figure(
            "suppressed_records",
            title="Records left out",
            what="The share of the records that steps left out because too few people were like them. Whoever is left "
            "is not a random sample of all.",
            form="share",
            published="rate",
            aim=Aim.GENTLER,
        ),
        Figure(
            "suppressed_cells",
            title="Values taken out",
            what="The share of the records whose value of a variable was taken out because too few people were like "
            "them. Such gaps are not random.",
            form="share",
            published="rate",
            aim=Aim.GENTLER,
        ),
        Figure(
            "unswapped_records",
            title="At risk and not exchanged",
            what="The share of the records whose household holds somebody too rare in the area, and found no partner "
            "to be exchanged with.",
            form="share",
            aim=Aim.APART,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
    say=_say,
)
