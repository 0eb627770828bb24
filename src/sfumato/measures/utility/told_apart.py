"""What U says in words: could a program tell the released records from the original ones?"""

from __future__ import annotations

from collections.abc import Callable

from sfumato.data.finding import Findings
from sfumato.measures.saying import value_of, with_value

__all__ = ["told_apart"]

_CERTAIN = 0.25
"""U of tables that can be told apart with certainty."""


def told_apart(*names: str, unless: str | None = None) -> Callable[[Findings, float], str | None]:
    """Make the sentence on the first of the figures `names` that has a value; silent where a sharper one has.

    Examples
    --------
    >>> from sfumato.data.finding import Finding
    >>> told_apart("u_main")(Findings((Finding("u_main", value=0.0001),)), 1.0)[:57]
    'A computer program that had to tell released records from'
    """

    def say(findings: Findings, fraction: float) -> str | None:
        lines = with_value(findings, *names)
        if not lines or (unless is not None and with_value(findings, unless)):
            return None
        share = value_of(lines[0]) / _CERTAIN
        could = "clearly could" if share > 0.25 else "could to some extent" if share > 0.04 else "hardly could"
        return (
            f"A computer program that had to tell released records from original ones {could}: it scored "
            f"{value_of(lines[0]):.2g}, where 0 is guessing and {_CERTAIN} is certainty."
        )

    return say
