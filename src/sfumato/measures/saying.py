"""Figures in plain words: what the sentences of several measures share.

A figure is called high or large by these conventions, each said where it is used:

- linking: 1 in 11 (0.09) is what the European Medicines Agency and Health Canada ask of clinical data that are
  published; 1 in 5 (0.2) is usual for data under a contract.
- coefficients: one standard error is as much as another sample of the same size would move them.
- groups: fewer than 5 alike is the field's most used lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.finding import Finding, Findings

__all__ = [
    "CONTRACT",
    "FEW_ALIKE",
    "PUBLISHED",
    "capital",
    "judged",
    "listed",
    "percent",
    "rungs",
    "value_of",
    "with_value",
    "without_protection",
    "worst",
]

PUBLISHED, CONTRACT = 0.09, 0.2
"""Usual bounds on the share of people who are found, for data that are published and for data under a contract."""
FEW_ALIKE = 5
"""Fewer people alike are usually called few."""


def percent(share: float) -> str:
    """A share in words.

    Examples
    --------
    >>> percent(0.0426), percent(0.00004), percent(1.0), percent(0.9996)
    ('4.3%', 'less than 0.1%', '100%', 'nearly 100%')
    """
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 <= share < 1:
        return "nearly 100%"
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:.0f}%"


def with_value(findings: Findings, *names: str) -> list[Finding]:
    """Lines of the first of the figures `names` that has any with a value."""
    for name in names:
        lines = [f for f in findings.select(name) if f.value is not None]
        if lines:
            return lines
    return []


def value_of(line: Finding) -> float:
    """A line's value, 0 where it has none."""
    return 0.0 if line.value is None else line.value


def rungs(lines: Sequence[Finding]) -> bool:
    """Whether all counts are such as are published: 0, 1, 2, 3, 5, 10, 20, 50, and so on, each "at least" so many.

    Examples
    --------
    >>> rungs([Finding("values_kept", value=2.0, baseline=500.0)]), rungs([Finding("values_kept", value=4.0)])
    (True, False)
    """
    texts = [f"{count:.0f}" for line in lines for count in (line.value, line.baseline) if count is not None]
    return all(text in ("0", "3") or (text[0] in "125" and not text[1:].strip("0")) for text in texts)


def worst(lines: Sequence[Finding]) -> Finding:
    """The line with the largest value."""
    return max(lines, key=value_of)


def without_protection(line: Finding) -> str:
    """The baseline of a risk, in brackets."""
    return f" (without protection: {percent(line.baseline)})" if line.baseline is not None else ""


def judged(lines: Sequence[Finding]) -> str:
    """The largest share of people who are found, held against the usual bounds."""
    highest = value_of(worst(lines))
    if highest > CONTRACT:
        return "This is high: 20% is a usual bound for data under a contract, 9% for data that are published."
    if highest > PUBLISHED:
        return "This is below the 20% that is usual for data under a contract, above the 9% for published data."
    return "This is below the 9% that is a usual bound for published data."


def capital(text: str) -> str:
    """A text that begins with a capital.

    Examples
    --------
    >>> capital("less than 0.1%")
    'Less than 0.1%'
    """
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str]) -> str:
    """Names as a list in words, each once.

    Examples
    --------
    >>> listed(["age", "sex", "age"])
    'age and sex'
    """
    once = list(dict.fromkeys(names))
    return once[0] if len(once) == 1 else f"{', '.join(once[:-1])} and {once[-1]}"
