"""Findings and pictures in plain words, for reports, terminal and docs; what is said of a figure is its measure's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sfumato.data.finding import Finding
from sfumato.measures.measure import FAMILIES, Figure
from sfumato.measures.registry import figure as word
from sfumato.measures.registry import measure_of
from sfumato.measures.saying import listed
from sfumato.measures.subject import EVERYTHING, KEYS, KEYS_AND_OTHERS, RELEASED, STRATA, WIDE
from sfumato.measures.units import of_units
from sfumato.report.picture import (
    Boxes,
    Coefficients,
    Distribution,
    Hidden,
    Picture,
    RiskCurves,
    Risky,
    Scatter,
    Strata,
)

__all__ = [
    "FAMILIES",
    "GROUPS",
    "PROMISE",
    "badness",
    "bound",
    "family_of",
    "figure",
    "fold",
    "how_to_read",
    "of_one",
    "of_what",
    "plain_number",
    "undecided",
    "word",
    "word_of",
]

GROUPS: Mapping[str, str] = {
    KEYS: "released keys, none masked",
    STRATA: "strata of the masking steps",
    KEYS_AND_OTHERS: "keys and the other sensitive variables",
    RELEASED: "all columns that leave as they were",
    EVERYTHING: "these and what is said to be unknown",
    "all": "whole file",
    "overall": "attacker knows no group",
    "stratum": "attacker knows the group",
    "unscaled": "attacker also undoes the restored spread",
    "sd": "relative to the column's standard deviation",
    "largest": "the ten largest values",
    "relative": "relative to the value itself",
    "relative unscaled": "relative to the value itself, after undoing the restored spread",
    "wrong record": "where it is somebody else's record",
    "left": "who left",
    "joined": "who joined",
    "corrected": "whose value was corrected",
    "stayed": "who stayed",
    "nearest": "nearest record",
    "fellegi_sunter": "keys weighed (Fellegi-Sunter)",
    "fellegi_sunter_best": "keys weighed as nobody could better",
    "risk": "what the release adds",
    "attack": "people of the release",
    "control": "people who are not in it",
    "auc": "members told from others",
    "advantage": "best true rate less false rate",
    "one-way": "tables of one column",
    "two-way": "tables of two columns",
    "main": "model of main effects",
    "interactions": "model with interactions",
    "trees": "model of trees",
}
"""Groups that are no single stratum, decile or class."""

_MOST_NAMED = 3
PROMISE = (
    "sfumato promises that the steps above were run as described and that each figure was measured as its explanation "
    "says. It does not promise that nobody can be recognised: each risk holds for the attack it names, attackers may "
    "know more or do better, and what is released cannot be called back."
)


def undecided(columns: Sequence[str]) -> str:
    """The headline on a release that holds only if nobody knows some columns.

    Examples
    --------
    >>> undecided(["town", "kids", "rent", "car"])
    'Undecided: holds only if nobody outside knows town, kids, rent and 1 more'
    """
    few = [*columns[:_MOST_NAMED], *([f"{len(columns) - _MOST_NAMED} more"] if columns[_MOST_NAMED:] else [])]
    return f"Undecided: holds only if nobody outside knows {listed(few)}"


def word_of(line: Finding) -> Figure:
    """What is said of a line's figure; of somebody who knows all rows of a person or household in their words.

    Examples
    --------
    >>> word_of(Finding("linkage_nearest", attack="household")).attacker
    'nearest household'
    """
    said, of = word(line.measure), line.attack
    if not of_units(line):
        return said
    return replace(said, attacker=f"{said.attacker.split()[0]} {of}", clause=said.clause.replace("records", f"{of}s"))


def of_what(line: Finding) -> str:
    """What a line is about: variable, group and parameter, in words.

    Examples
    --------
    >>> of_what(Finding("quantile", variable="age", at=0.25)), of_what(Finding("risk1", at=0.01))
    ('age, 25% quantile', 'all records, w1 = 0.01')
    >>> of_what(Finding("table_ratio", group="two-way")), of_what(Finding("table_ratio", "age × sex", "two-way"))
    ('tables of two columns', 'age × sex')
    """
    said, family = word(line.measure), family_of(line.measure)
    parts = [line.variable] if line.variable else []
    if line.group in (KEYS, STRATA, KEYS_AND_OTHERS, *WIDE):
        parts += [said.whole, GROUPS[line.group]]
    elif line.group is not None and not (parts and said.of == "pair") and _of_a_part(line):
        named = family in ("linkage", "tables") or line.measure == "differencing"
        parts.append(GROUPS.get(line.group, line.group) if named else _group(line))
    if not parts:
        parts.append(said.whole)
    among = (*_DIFFERENCES, *said.strongest_of)
    if line.attack is not None and (said.usual.get("attack") is not None or line.attack in among):
        parts.append(_ATTACKS.get(line.attack, line.attack))
    if of_units(line):
        parts.append(f"all rows of a {line.attack} known")
    if line.at is not None:
        parts.append(said.at.format(line.at, plain_number(100 * line.at, 3)))
    return ", ".join(parts)


def _of_a_part(line: Finding) -> bool:
    """Whether a group says more than that all records are meant."""
    return line.group != "overall" or family_of(line.measure) == "linkage"


def family_of(name: str) -> str:
    """The part of reports that a figure stands in, see `FAMILIES`.

    Examples
    --------
    >>> family_of("delta")
    'values'
    """
    measure = measure_of(name)
    return "other" if measure is None else measure.family


_DIFFERENCES = {
    "sums": "by the sums",
    "multisets": "by the values that only one holds",
    "local": "by the averages that changed",
    "averaging": "by the mean of all releases",
}
_ATTACKS = {
    "worst": "best of the attackers",
    "nearest": "nearest record",
    "predicted": "predicted true values",
    "earlier": "nearest mean of all releases",
    "neighbour": "somebody who knows a person",
    "cross_match": "a file of people to match",
    "trawl": "a search for odd records",
    "claim": "the ten most certain",
    "relative": "nearness beside a reference",
    "density": "density beside a reference",
    "kernel": "near records weighed",
    **_DIFFERENCES,
}


def _group(line: Finding) -> str:
    return "worst group" if line.group == "stratum" else str(line.group)


def figure(line: Finding, value: float | None, *, internal: bool) -> str:
    """A line's value or baseline as text.

    Examples
    --------
    >>> figure(Finding("risk1"), 0.0426487, internal=True), figure(Finding("k_anonymity"), 20.0, internal=False)
    ('4.26%', 'at least 20')
    >>> figure(Finding("mean"), -0.07, internal=False)
    '−0.07 sd'
    """
    if value is None:
        return "–"
    said = word(line.measure)
    if not internal and said.published == "ladder":
        return f"at least {value:.0f}"
    if not internal and said.published == "change":
        moved = f"{value:+.2g}".replace("-", "−") if value else "0"
        return moved if said.of == "pair" else f"{moved} sd"
    form = said.form
    if form == "share":
        return f"{plain_number(100 * value, 3)}%"
    return plain_number(value, 3 if form == "number" and said.published != "change" else 5)


def plain_number(value: float, digits: int) -> str:
    """A number with significant digits and without an exponent.

    Examples
    --------
    >>> plain_number(0.0000512, 2), plain_number(123456.7, 3), plain_number(-2.0, 3)
    ('0.000051', '123457', '−2')
    """
    rounded = float(f"{value:.{digits}g}") if abs(value) < 10**digits else float(round(value))
    text = f"{rounded:.15f}" if abs(rounded) < 1 else f"{rounded:.6f}"
    return (text.rstrip("0").rstrip(".") or "0").replace("-", "−")


def bound(line: Finding, *, internal: bool = True) -> str:
    """A line's limit in words, with its direction.

    The direction is read off value and verdict where they tell it, else it is the measure's own.

    Examples
    --------
    >>> bound(Finding("risk1", value=0.04, limit=0.05, ok=True))
    'at most 5%'
    """
    if line.limit is None:
        return "" if line.ok is None else "set"
    least = word(line.measure).better == "high"
    if line.value is not None and line.value != line.limit and (internal or word(line.measure).published != "ladder"):
        least = (line.value > line.limit) == bool(line.ok)
    text = figure(line, line.limit, internal=True)
    return f"{'at least' if least else 'at most'} {text}"


def badness(line: Finding) -> float:
    """A number by which lines of one measure are sorted, the worst has the largest.

    Examples
    --------
    >>> badness(Finding("k_anonymity", value=2.0)) > badness(Finding("k_anonymity", value=9.0))
    True
    """
    if line.ok is False and line.value is None:
        return float("inf")
    if line.value is None:
        return float("-inf")
    better = word(line.measure).better
    if better == "near":
        return abs(line.value - (line.baseline or 0.0))
    return -line.value if better == "high" else line.value


def how_to_read(picture: Picture) -> tuple[str, str]:
    """Title of a picture and, in a sentence or two, how to read it.

    Examples
    --------
    >>> how_to_read(Strata(("ward",), ()))[0]
    'Groups and their sizes'
    """
    match picture:
        case Scatter(before=before):
            original = "Circles are original records" if before else _CELLS
            return "Before and after", (
                f"{original}, points are released ones: where the points follow the original the relation of the two "
                "columns is kept, and outlying records should have moved most."
            )
        case _:
            return _HOW[type(picture)]


_CELLS = (
    "Shaded cells are where the original records are (darker: over 1, 3 and 10% of them; cells with fewer than 10 "
    "records are left blank)"
)
_HOW: Mapping[type, tuple[str, str]] = {
    Hidden: (
        "How well people are hidden",
        "How often the person looked for is among the first that an attacker would think of: the lower, the better "
        "hidden. Where it is drawn by distance from the centre, bars that rise to the right mean that people who stand "
        "apart are hidden worse.",
    ),
    Risky: (
        "Records at risk",
        "Diamonds mark the original values of records that are risky, dots are all others: look at whether they have "
        "something in common.",
    ),
    Boxes: (
        "Can a model tell the tables apart?",
        "Each box shows how likely a model thinks it is that a record is a released one (box: middle half; whiskers: "
        "5% to 95%): where both boxes sit narrowly on 0.5 the model can only guess.",
    ),
    Coefficients: (
        "The user's model on both tables",
        "Each coefficient of the model with its 95% interval, divided by its standard error in the "
        "original fit: the closer diamond and circle, the less the analysis lost.",
    ),
    RiskCurves: (
        "Risk over the width of the boxes",
        "How many records count as risky when “close” is taken more widely (first), and when other records hide a "
        "record from farther away (second): the dashed line is where the figures of this report were taken.",
    ),
    Distribution: (
        "Distributions",
        "Filled is the original, the outline is what is released: the closer they are, the better the column is kept.",
    ),
    Strata: (
        "Groups and their sizes",
        "Records in each combination of categories, smallest first: small groups are where people are found.",
    ),
}


def fold(lines: Sequence[Finding], most: int) -> tuple[list[Finding], int]:
    """The lines to show of one measure, and how many single groups were folded away.

    Lines of the whole table all stay; of lines of single groups the `most` worst.

    Examples
    --------
    >>> lines = [Finding("class_size", group=f"ward={i}", value=float(i)) for i in (9, 3, 5)]
    >>> [line.group for line in fold(lines, 1)[0]], fold(lines, 1)[1]
    (['ward=3'], 2)
    """
    single = [line for line in lines if of_one(line)]
    worst = set(map(id, sorted(single, key=lambda line: (line.ok is not False, -badness(line)))[:most]))
    shown = [line for line in lines if not of_one(line) or id(line) in worst]
    return shown, len(lines) - len(shown)


def of_one(line: Finding) -> bool:
    """Whether a line is of one stratum, class or table among many, rather than of the whole.

    Examples
    --------
    >>> of_one(Finding("class_size", group="ward=7")), of_one(Finding("table_ratio", "age × sex", "two-way"))
    (True, True)
    """
    in_words = line.group is None or line.group in GROUPS
    return not in_words or (line.group is not None and line.variable is not None and word(line.measure).of == "pair")
