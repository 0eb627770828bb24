"""Every measure and picture in plain words: the one place from which reports, terminal and docs take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sfumato.data.finding import Finding
from sfumato.report.external import AT_LEAST, CHANGES
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
    "WORDS",
    "Word",
    "badness",
    "bound",
    "figure",
    "fold",
    "how_to_read",
    "of_what",
    "plain_number",
    "word",
]

Form = Literal["share", "count", "number"]
Better = Literal["low", "high", "near", "change"]


@dataclass(frozen=True)
class Word:
    """A measure in plain words.

    Parameters
    ----------
    title
        Its name for people.
    what
        What it is, and what it is not, in a sentence or three.
    family
        The part of the report that it stands in, see `FAMILIES`.
    form
        A share between 0 and 1, a count of records, or a plain number.
    better
        Whether protection (or utility) is better where it is low or high; `near` its baseline.
    baseline
        What its baseline is; None where it has none.
    """

    title: str
    what: str
    family: str
    form: Form = "number"
    better: Better = "low"
    baseline: str | None = None


FAMILIES: Mapping[str, str] = {
    "groups": "Risk: groups of people alike",
    "linkage": "Risk: finding a person's record",
    "closeness": "Risk: values close to the truth",
    "tables": "Loss: telling the tables apart",
    "values": "Loss: how far values moved",
    "models": "Loss: models",
    "summaries": "Loss: means, spreads and the like",
    "other": "Other figures",
}
"""Parts of the report in order."""

_UNPROTECTED = "Without protection"
_ORIGINAL = "Original"

WORDS: Mapping[str, Word] = {
    "k_anonymity": Word(
        "Smallest group (k-anonymity)",
        "The fewest records that share one combination of categories. Somebody who knows only the categories of a "
        "person cannot tell the record from the others of its group. It says nothing of somebody who knows numbers "
        "too.",
        "groups",
        "count",
        "high",
        _ORIGINAL,
    ),
    "class_size": Word(
        "Size of each group",
        "How many records share each combination of categories.",
        "groups",
        "count",
        "high",
        _ORIGINAL,
    ),
    "l_distinct": Word(
        "Different outcomes in a group (l-diversity)",
        "How many different values of a sensitive variable a group has. With 1, whoever knows that a person is in the "
        "group knows the value, without finding the record.",
        "groups",
        "count",
        "high",
        _ORIGINAL,
    ),
    "t_equal": Word(
        "Outcome in a group against all (t-closeness)",
        "How far the outcome's distribution in a group is from that of the whole table: half the sum of the "
        "differences of shares. 0 is equal; 1 has nothing in common.",
        "groups",
        "number",
        "low",
        _ORIGINAL,
    ),
    "linkage_nearest": Word(
        "Right guesses by nearest record",
        "An attacker who knows the exact original values of a person takes the nearest released record; this share of "
        "the people is found. Most real attackers know less. To be found is not yet to be harmed, but it should be "
        "rare.",
        "linkage",
        "share",
        "low",
        _UNPROTECTED,
    ),
    "linkage_one_to_one": Word(
        "Right guesses by assigning all records",
        "An attacker who knows the exact original values of very many people assigns all released records at once, "
        "each to one person; this share is right. Measured on a sample, hence the interval.",
        "linkage",
        "share",
        "low",
        _UNPROTECTED,
    ),
    "h_rank": Word(
        "Right record among the nearest (h-rank)",
        "An attacker who knows true values of a person takes the released record that fits best. h counts the people "
        "who are truly nearer to that person than the one whose record was taken; 0 is the right one. The figure is "
        "the share of people for whom h is at most the number given: small is well hidden. Tenths go by distance from "
        "the centre; the worst records are the most isolated 1%.",
        "linkage",
        "share",
        "low",
        "Any record at random",
    ),
    "attribute_posterior": Word(
        "Noisy category read off the record",
        "Somebody who has the right record, or any, takes the most probable true category given the noisy values; this "
        "share is right. Noise that hides whose record it is may still leave a category readable.",
        "linkage",
        "share",
        "low",
        "The most frequent category for everybody",
    ),
    "attribute_nearest": Word(
        "Right outcome from the nearest record",
        "An attacker takes the outcome of the nearest released record, right or wrong; this share has the person's own "
        "outcome. Of wrong records it should be no more than chance.",
        "linkage",
        "share",
        "low",
        "A random record's outcome",
    ),
    "attribute_alike": Word(
        "The nearest records all have one outcome",
        "Share of people whose five nearest released records all have the same outcome, so that it does not matter "
        "which of them is theirs.",
        "linkage",
        "share",
        "low",
        "Five random records",
    ),
    "risk1": Word(
        "Released close to the original (risk1)",
        "Share of records with a released value in a narrow interval around its original, wider for unusual records "
        "(robust Mahalanobis distance). Whoever sees such a value comes near the truth. It does not ask whether the "
        "record can be found.",
        "closeness",
        "share",
        "low",
        _UNPROTECTED,
    ),
    "risk2": Word(
        "Close, and no other record near (risk2)",
        "The part of risk1 whose released record has no other released record near that could be taken for it.",
        "closeness",
        "share",
        "low",
        _UNPROTECTED,
    ),
    "interval_disclosure": Word(
        "Original within an interval",
        "Share of records whose original values all lie within a small interval around the released ones.",
        "closeness",
        "share",
        "low",
        _UNPROTECTED,
    ),
    "unchanged": Word(
        "Values that are exactly as they were",
        "Share of a column's values that protection left alone.",
        "closeness",
        "share",
        "low",
        _UNPROTECTED,
    ),
    "u_main": Word(
        "U, main effects",
        "A regression model is asked to tell released from original records by the variables as they are. 0: it "
        "cannot; 0.25: it always can. This one sees little more than shifted means.",
        "tables",
    ),
    "u_interactions": Word(
        "U, with interactions",
        "The same with all pairs of variables, so that changed relations show as well.",
        "tables",
    ),
    "u_trees": Word(
        "U, with trees",
        "The same with an ensemble of decision trees, which sees any pattern. The sharpest of the three.",
        "tables",
    ),
    "delta": Word(
        "Spread that comes from protection (delta)",
        "Mean squared move of a column's values, divided by the column's variance: the part of the released spread "
        "that protection made. 0 is none.",
        "values",
    ),
    "il1s": Word(
        "Mean move of a cell (IL1s)",
        "Mean absolute move of a value, in √2 standard deviations of the original column.",
        "values",
    ),
    "out_of_range": Word(
        "Impossible values",
        "Share of values outside the range that the plan gives.",
        "values",
        "share",
        "low",
        _ORIGINAL,
    ),
    "standardised_difference": Word(
        "Moved coefficients",
        "How far each coefficient of the intended analysis moved, in standard errors of the original fit. Below 1 it "
        "moved less than another sample would move it.",
        "models",
    ),
    "ci_overlap": Word(
        "Overlap of confidence intervals",
        "How much the 95% intervals of a coefficient from original and release overlap. 1 is all; 0 or less is none.",
        "models",
        "number",
        "high",
    ),
    "mean": Word("Mean", "The mean of each column.", "summaries", "number", "near", _ORIGINAL),
    "sd": Word("Standard deviation", "The spread of each column.", "summaries", "number", "near", _ORIGINAL),
    "correlation": Word(
        "Correlation", "How two columns go together, from −1 to 1.", "summaries", "number", "near", _ORIGINAL
    ),
    "quantile": Word(
        "Quantiles", "The value that the stated share of records lies below.", "summaries", "number", "near", _ORIGINAL
    ),
}

GROUPS: Mapping[str, str] = {
    "all": "whole file",
    "overall": "attacker knows no group",
    "stratum": "attacker knows the group",
    "unscaled": "attacker also undoes the restored spread",
    "wrong record": "where it is somebody else's record",
}
"""Groups of the measures of linkage."""

PROMISE = (
    "sfumato promises that the steps above were run as described and that each figure was measured as its explanation "
    "says. It does not promise that nobody can be recognised: each risk holds for the attack it names, attackers may "
    "know more or do better, and what is released cannot be called back."
)


def word(measure: str) -> Word:
    """The words for a measure; its bare name for one that a plug-in brought.

    Examples
    --------
    >>> word("delta").title, word("delta").family
    ('Spread that comes from protection (delta)', 'values')
    """
    return WORDS.get(measure) or Word(measure, "A measure that was added to sfumato.", "other")


def of_what(line: Finding) -> str:
    """What a line is about: variable, group and parameter, in words.

    Examples
    --------
    >>> of_what(Finding("quantile", variable="age", at=0.25)), of_what(Finding("risk1", at=0.01))
    ('age, 25% quantile', 'all records, w1 = 0.01')
    """
    parts = [line.variable] if line.variable else []
    if line.group is not None and (line.group != "overall" or word(line.measure).family == "linkage"):
        linkage = word(line.measure).family == "linkage"
        parts.append(GROUPS.get(line.group, line.group) if linkage else _group(line))
    if line.group is None and line.measure in ("l_distinct", "t_equal"):
        parts.append("worst group")
    if not parts:
        parts.append("mean of all groups" if line.measure == "class_size" else "all records")
    if line.measure == "h_rank" and line.attack is not None:
        parts.append(_ATTACKS.get(line.attack, line.attack))
    if line.at is not None:
        parts.append(_AT.get(line.measure, "at {0:g}").format(line.at, plain_number(100 * line.at, 3)))
    return ", ".join(parts)


_ATTACKS = {"worst": "best of the attackers", "nearest": "nearest record", "predicted": "predicted true values"}
_AT = {
    "h_rank": "h ≤ {0:g}",
    "attribute_alike": "{0:g} nearest",
    "quantile": "{1}% quantile",
    "risk1": "w1 = {0:g}",
    "risk2": "w2 = {0:g}",
    "interval_disclosure": "± {0:g} standard deviations",
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
    if not internal and line.measure in AT_LEAST:
        return f"at least {value:.0f}"
    if not internal and line.measure in CHANGES:
        moved = f"{value:+.2g}".replace("-", "−") if value else "0"
        return moved if line.measure == "correlation" else f"{moved} sd"
    form = word(line.measure).form
    if form == "share":
        return f"{plain_number(100 * value, 3)}%"
    return plain_number(value, 3 if form == "number" and line.measure not in CHANGES else 5)


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
    if line.value is not None and line.value != line.limit and (internal or line.measure not in AT_LEAST):
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
        "The intended analysis on both tables",
        "Each coefficient of the intended analysis with its 95% interval, divided by its standard error in the "
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
    single = [line for line in lines if line.group is not None and line.group not in GROUPS]
    worst = set(map(id, sorted(single, key=lambda line: (line.ok is not False, -badness(line)))[:most]))
    shown = [line for line in lines if line.group is None or line.group in GROUPS or id(line) in worst]
    return shown, len(lines) - len(shown)
