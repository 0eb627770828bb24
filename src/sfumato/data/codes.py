"""Whether whole numbers are codes of something, which must not be averaged, and why."""

from __future__ import annotations

import numpy as np

from sfumato.data.kinds import FEW_NUMBERS, FEW_TEXTS, Facts

__all__ = ["why_codes"]

_CODES = (
    r"codes?|cd|\w+code|icd|isco|isced|isic|nace|naics|nuts|soc|lau|fips|atc|id|ids|region|county|district|ward|country|"
    r"state|province|municipality|commune|department|canton|prefecture|territory|zone|lsoa|msoa|sector|branch|industry|"
    r"\w*occu\w*|educ\w*|profession|nationality|citizenship|language|religion|diagnosis|school|hospital|clinic|site|centre|"
    r"center|month|weekday|quarter|category|type|class|group|cluster|stratum|strata"
)
_AMOUNTS = (
    r"tax\w*|income|price|costs?|amount|total|sum|counts?|number of|num|n|size|ages?|years?|days|weeks|months|hours|"
    r"minutes|population|area|mean|average|rate|share|percent|score|value|length|distance|duration|time|height|sales|"
    r"revenue|turnover|expend\w*|visits|children|siblings|members|persons|rooms|cars|births?|cigarettes|units|"
    r"k?cal|calor\w*|dose|doses|mg|kg|cm|ml|weight|pressure"
)
_WELL_FILLED = 5
"""Records on both sides of a gap, so that chance alone would hardly leave it empty."""


def why_codes(facts: Facts) -> str | None:
    """Give the reason for which whole numbers are taken as codes; None where they look like amounts.

    Codes have labels, or a name as codes have (region, `..code`), or leave gaps between values that occur often: 11,
    12, 13, 21, 22. A name of an amount (age, number of children) speaks against a gap.

    Parameters
    ----------
    facts
        The column.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> from sfumato.data.kinds import facts_of
    >>> rows = pl.DataFrame({"REGION": range(1, 183), "AGE": range(182)})
    >>> why_codes(facts_of(rows, "REGION", Codebook()))
    'its name is that of a code'
    >>> why_codes(facts_of(rows, "AGE", Codebook()))
    """
    if not facts.whole:
        return None
    if facts.named(_CODES) and not facts.named(_AMOUNTS):
        return "its name is that of a code"
    if _mostly_labelled(facts):
        return "most of its values have labels"
    if facts.dtype.is_float() and facts.few(FEW_NUMBERS):
        return "few different whole numbers"
    if not facts.named(_AMOUNTS) and facts.few(FEW_TEXTS) and _gaps(facts):
        return "few different whole numbers, with gaps between"
    return None


def _mostly_labelled(facts: Facts) -> bool:
    """Whether half of the different values or more have a label."""
    labels = facts.variable.labels
    if not labels or len(facts.distinct) > 2 * len(labels):
        return False
    return 2 * sum(v in labels for v in facts.distinct.to_list()) >= len(facts.distinct)


def _gaps(facts: Facts) -> bool:
    """Whether numbers are left out between two that occur often; multiples of ten are no gaps."""
    counts = facts.values.value_counts(name="records").sort("value")
    value, records = counts["value"].to_numpy().astype(np.int64), counts["records"].to_numpy()
    steps = np.diff(value)
    unit = np.gcd.reduce(steps) if len(steps) else 1
    often = np.minimum(records[1:], records[:-1]) >= _WELL_FILLED
    return bool(np.any(often & (steps > unit)))
