"""What the variables of a table seem to be: roles and kinds guessed from names and values, each with its reason.

Nothing here decides anything: a guess is a line of a drafted plan, for the custodian to read and change. Reasons go
into that plan, which is public, so they name thresholds and forms, never values or counts.

Kinds follow the rules of `sfumato.data.kinds`, but where a name or the form of the values says more: a postcode is
geographic, a text may be a date, a scale of words is ordinal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.kinds import FEW_NUMBERS, NEARLY_ALL, Facts, facts_of, sniff_kinds
from sfumato.data.roles import Kind, Role

__all__ = ["Guess", "nhs_check_digit", "profile", "sniff_kinds"]

_MANY = 20  # records below which being unique says little


@dataclass(frozen=True, slots=True)
class Guess:
    """What a variable seems to be.

    Parameters
    ----------
    name
        The column.
    variable
        What to write in a plan.
    reason
        Why, in one sentence without values or counts from the data.
    certain
        Whether the form of the values leaves little doubt; otherwise somebody should look.
    """

    name: str
    variable: Variable
    reason: str
    certain: bool


def profile(frame: pl.DataFrame, codebook: Codebook) -> tuple[Guess, ...]:
    """Propose a role and a kind for every column, with the reason.

    What the codebook says already (a role other than `other`, a kind) stays. At most one column is proposed as the
    record's id and at most one as the household's. Missing codes are proposed where conventional ones (−9, 99, …) stand
    apart from all other values.

    Parameters
    ----------
    frame
        The table.
    codebook
        What its file says about it.

    Returns
    -------
    tuple of Guess
        In column order.

    Examples
    --------
    >>> frame = pl.DataFrame({"email": ["a@example.org", "b@example.org"], "age": [31, 45]})
    >>> for guess in profile(frame, Codebook()):
    ...     print(guess.name, guess.variable.role, guess.variable.kind, "-", guess.reason)
    email identifier text - its values have the form of e-mail addresses
    age key integer - its name is that of something that others may know; whole numbers
    """
    facts = [facts_of(frame, name, codebook) for name in frame.columns]
    drafts = [_first(_BY_FORM, f) for f in facts]
    if not codebook.with_role(Role.RECORD):
        scores = [_record_score(f) if d is None else 0.0 for f, d in zip(facts, drafts, strict=True)]
        best = max(scores, default=0.0)
        if best > 0:
            drafts[scores.index(best)] = _Draft(Role.RECORD, "each record has a value of its own", best > 1)
    taken = bool(codebook.with_role(Role.HOUSEHOLD))
    guesses = []
    for f, draft in zip(facts, drafts, strict=True):
        draft = draft or _first(_BY_NAME, f) or _Draft(Role.OTHER, "")
        if draft.role == Role.HOUSEHOLD and f.variable.role != Role.HOUSEHOLD:
            draft = _Draft(Role.IDENTIFIER, "another id of a household or family") if taken else draft
            taken = True
        guesses.append(_guess(f, draft))
    return tuple(guesses)


def nhs_check_digit(stem: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the tenth digit of NHS numbers (modulus 11); 10 where the first nine digits are never used.

    Parameters
    ----------
    stem
        The first nine digits as a number, shape (n,).

    Returns
    -------
    ndarray, shape (n,)

    References
    ----------
    NHS Data Model and Dictionary, attribute "NHS number".

    Examples
    --------
    >>> nhs_check_digit(np.array([943476591])).tolist()
    [9]
    """
    total = sum((stem // 10 ** (8 - i)) % 10 * (10 - i) for i in range(9))
    return np.asarray((11 - total % 11) % 11, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Draft:
    role: Role
    reason: str
    certain: bool = False
    kind: Kind | None = None


_Rule = Callable[[Facts], _Draft | None]

_RECORD_WORDS = (
    r"id|pid|record|recordid|(?:record|person|participant|patient|passenger|subject|case|respondent|member|individual|"
    r"pupil|client|unit)s? ?(?:id|no|nr|number|code)|caseno|serial|uuid|guid"
)
_KEY_WORDS = (
    r"(?:age|sex|gender|region|country|county|district|ward|city|town|municipality|lsoa|msoa|nationality|citizenship|"
    r"marital|married|occupation|job|profession|employ\w*|education\w*|school|degree|qualification|language|height|"
    r"bmi|children|siblings|postal|zip|birth\w*|native|veteran|workclass)\b"
)
_SENSITIVE_WORDS = (
    r"(?:hiv|aids|diagnos|icd|disease|disorder|cancer|tumou?r|asthma|diabet|epilep|depress|anxiety|mental|psych|suicid|"
    r"disab|abortion|pregnan|contracepti|std|sti|alcohol|drug|medication|abuse|income|salary|wages?|earning|wealth|debt|"
    r"benefit|capital|ethnic|race\b|racial|religio|faith|sexual|orientation|politic|vote|union|crim|convict|offence|"
    r"genetic|genotype)"
)
_OUTCOME_WORDS = r"survived|survival|died|dead|death|deceased|outcome|event|response"
_NAME_WORDS = (
    r"(?:first|last|middle|full|given|family|maiden|christian|birth|known|user|mothers?|fathers?|patients?|childs?) ?"
    r"names?|forenames?|surnames?|firstname|lastname|fullname|username|fname|lname|sname|initials"
)
_NUMBER_WORDS = (
    r"passports?|ssn|mrn|chi|nhs|nino|ni number|national insurance\w*|hospital (?:no|number)|driving lic\w+|licen[cs]e "
    r"(?:no|number)|iban|account (?:no|number)|credit ?card|card (?:no|number)|plate|vin"
)
_WEIGHT_WORDS = r"weights?|weighting|wt|wts|wgt|pweight|pwt|swt|\w*fnlwgt|finalwt"
_DESIGN_WORDS = (
    r"sampl\w*|survey|design|prob\w*|expansion|grossing|raking|calib\w*|non ?response|final|person|cross|longitudinal|"
    r"pweight|pwt|swt|\w*fnlwgt|finalwt|analysis|household|hh"
)
_BODY_WORDS = r"birth|body|kg|kilo\w*|g|grams?|lbs?|pounds?|stones?|baby|mothers?|fathers?|at"
_BODY_UNITS = ("kg", "g", "lb", "lbs", "st", "kilograms", "grams", "pounds")

_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_FORMS: tuple[tuple[str, Role, Kind, str], ...] = (
    (r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}", Role.IDENTIFIER, Kind.TEXT, "e-mail addresses"),
    (r"(?i)(?:(?:https?|ftp)://|www\.)\S+", Role.IDENTIFIER, Kind.TEXT, "web addresses"),
    (rf"(?:{_BYTE}\.){{3}}{_BYTE}", Role.IDENTIFIER, Kind.TEXT, "internet (IP) addresses"),
    (
        r"(?i)(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|[0-9a-f:]*::[0-9a-f:]*",
        Role.IDENTIFIER,
        Kind.TEXT,
        "internet (IP) addresses",
    ),
    (
        r"(?i)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]",
        Role.IDENTIFIER,
        Kind.TEXT,
        "national insurance numbers",
    ),
    (r"(?:\+|00)[1-9][\d ().-]{7,18}\d|\(?0[1-9][\d ().-]{6,12}\d", Role.IDENTIFIER, Kind.TEXT, "telephone numbers"),
    (r"(?i)[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}", Role.KEY, Kind.GEOGRAPHIC, "UK postcodes"),
)
_DATE_FORM = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|"
    r"\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{4}"
)


def _said(f: Facts) -> _Draft | None:
    if f.variable.role != Role.OTHER:
        return _Draft(f.variable.role, "its role is given", True)
    return _Draft(Role.OTHER, "it holds no values") if f.values.is_empty() else None


def _health_number(f: Facts) -> _Draft | None:
    """Ten digits whose last is the check digit; one random number in eleven passes, nearly all of them do not."""
    if not (f.text or f.dtype.is_integer()) or f.distinct.is_empty():
        return None
    digits = f.sample.str.replace_all(r"[ -]", "")
    valid = digits.filter(digits.str.contains(r"^\d{10}$")).cast(pl.Int64).to_numpy()
    right = nhs_check_digit(valid // 10) == valid % 10
    if len(digits) < 2 or right.sum() < NEARLY_ALL * len(digits):
        return None
    return _Draft(Role.IDENTIFIER, "ten digits with the check digit of an NHS number", True, Kind.TEXT)


def _form(f: Facts) -> _Draft | None:
    if f.dtype != pl.String:
        return None
    for pattern, role, kind, what in _FORMS:
        if f.looks(pattern):
            return _Draft(role, f"its values have the form of {what}", True, kind)
    return None


def _identifier_name(f: Facts) -> _Draft | None:
    if f.named(_NUMBER_WORDS) and (f.text or f.whole) and not f.few(FEW_NUMBERS):
        return _Draft(Role.IDENTIFIER, "its name is that of an official number", kind=Kind.TEXT)
    if f.named("phone|telephone|tel|mobile|fax|email|mail") and (f.text or f.whole) and not f.few(FEW_NUMBERS):
        return _Draft(Role.IDENTIFIER, "its name is that of a way to reach a person", kind=Kind.TEXT)
    if not f.text:
        return None
    if f.named(r"address\w*|street|addr") and f.kind == Kind.TEXT:
        return _Draft(Role.IDENTIFIER, "its name is that of an address")
    if f.named(_NAME_WORDS) or (f.named("names?") and f.kind == Kind.TEXT):
        return _Draft(Role.IDENTIFIER, "its name says that it holds names of people", f.kind == Kind.TEXT, Kind.TEXT)
    return None


def _date(f: Facts) -> _Draft | None:
    birth = f.named(r"dob|birth\w*|born|dateofbirth|birthdate")
    if not (f.dtype in (pl.Date, pl.Datetime) or (f.dtype == pl.String and f.looks(_DATE_FORM))):
        if birth and f.whole and f.low >= 1850 and f.high <= 2100:
            return _Draft(Role.KEY, "a year of birth may be known to others", False)
        return None
    if birth:
        return _Draft(Role.KEY, "a date of birth is known to others and nearly unique", True, Kind.DATE)
    return _Draft(Role.KEY, "the date of an event may be known to others", False, Kind.DATE)


def _coordinates(f: Facts) -> _Draft | None:
    if not f.dtype.is_numeric():
        return None
    degrees = f.low >= -180 and f.high <= 180 and f.named(r"lat|latitude|lon|long|lng|longitude|home lat|home lon")
    if degrees or f.named(r"eastings?|northings?|[xy] ?coord\w*|coord\w* ?[xy]"):
        return _Draft(Role.KEY, "its name is that of a coordinate, which points to a place", False, Kind.GEOGRAPHIC)
    return None


def _household(f: Facts) -> _Draft | None:
    named = f.named(r"household|hh|hhid|hid|house|family ?(?:id|no|nr|number)|famid|fid|dwelling")
    other = f.named(r"size|income|type|count|head|members?|weights?|wt|tenure|persons?|of|price|value")
    if not named or other or not (f.text or f.whole):
        return None
    if len(f.distinct) < len(f.values) and not f.few(FEW_NUMBERS):
        return _Draft(Role.HOUSEHOLD, "its name is that of a household or family, and its values repeat")
    return None


def _weight(f: Facts) -> _Draft | None:
    if not f.named(_WEIGHT_WORDS) or not f.dtype.is_numeric() or f.low < 0:
        return None
    if f.named(_DESIGN_WORDS):
        why = "its name is that of a sampling weight and no value is negative"
        return _Draft(Role.WEIGHT, why, not f.whole, Kind.INTEGER if f.dtype.is_integer() else Kind.CONTINUOUS)
    median = f.values.median()
    about_one = isinstance(median, int | float) and 0.2 <= median <= 5 and not f.whole
    body = f.named(_BODY_WORDS) or f.variable.unit in _BODY_UNITS
    if about_one and not body:
        why = "positive numbers around one, as sampling weights have; a body weight would be role key"
        return _Draft(Role.WEIGHT, why)
    why = "a body weight may be known to others; for a sampling weight write role weight"
    return _Draft(Role.KEY, why)


def _first(rules: Sequence[_Rule], facts: Facts) -> _Draft | None:
    return next((draft for rule in rules if (draft := rule(facts)) is not None), None)


def _sensitive(f: Facts) -> _Draft | None:
    if f.says(_SENSITIVE_WORDS):
        return _Draft(Role.SENSITIVE, "its name or label is that of something to be kept private")
    return None


def _key(f: Facts) -> _Draft | None:
    if f.named(r"post ?code|postal ?code|zip|zip ?code") and (f.text or f.whole):
        return _Draft(Role.KEY, "its name is that of a postcode", False, Kind.GEOGRAPHIC)
    if f.says(_KEY_WORDS):
        return _Draft(Role.KEY, "its name is that of something that others may know")
    if f.named(_OUTCOME_WORDS) and f.kind == Kind.CATEGORICAL:
        return _Draft(Role.OUTCOME, "its name is that of a result that studies explain")
    return None


def _text(f: Facts) -> _Draft | None:
    if f.dtype != pl.String or f.kind != Kind.TEXT:
        return None
    words = f.sample.str.count_matches(r"\S+").mean()
    length = f.sample.str.len_chars().mean()
    if isinstance(words, float) and isinstance(length, float) and (words >= 5 or length >= 40):
        return _Draft(Role.IDENTIFIER, "free text can name people: read it, or leave it out")
    if f.unique:
        return _Draft(Role.IDENTIFIER, "each record has a text of its own")
    if 2 * len(f.distinct) >= len(f.values):
        return _Draft(Role.IDENTIFIER, "most texts belong to one record or two")
    return None


def _other_id(f: Facts) -> _Draft | None:
    if _record_score(f) >= 2:
        return _Draft(Role.IDENTIFIER, "an id of its own for each record, beside the record column")
    return None


def _record_score(f: Facts) -> float:
    """How well a column would do as the record's id; 0 where it would not."""
    if not (f.whole or f.text) or not f.unique or f.variable.role != Role.OTHER:
        return 0
    if f.named(_RECORD_WORDS):
        return 3
    if f.named("id|ids|key|code|number|no|nr") or f.words.endswith("id"):
        return 2
    if f.says(_KEY_WORDS) or f.says(_SENSITIVE_WORDS):
        return 0
    if f.whole and f.high - f.low + 1 == f.rows and f.rows > 2:
        return 1  # a run without gaps
    code = f.looks(r"\S{0,39}\d\S{0,39}") if f.text else len(str(int(f.low))) == len(str(int(f.high)))
    return 0.5 if code and f.rows >= _MANY else 0


_BY_FORM: tuple[_Rule, ...] = (
    _said,
    _health_number,
    _form,
    _identifier_name,
    _date,
    _coordinates,
    _household,
    _weight,
)
_BY_NAME: tuple[_Rule, ...] = (_other_id, _sensitive, _key, _text)

_SCALES: tuple[tuple[str, ...], ...] = (
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("never", "former", "current"),
    ("very low", "low", "medium", "high", "very high"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("small", "medium", "large"),
    ("first", "second", "third", "fourth"),
    ("none", "primary", "secondary", "tertiary"),
)
_CASES: tuple[Callable[[str], str], ...] = (str.lower, str.capitalize, str.title, str.upper)
_BAND = r"(?i)(?:under|over|up to|<|>|<=|>=|≤|≥)? ?\d+ ?(?:(?:-|–|to) ?\d+|\+|and over|or more|and under)? ?(?:years)?"


def _order(f: Facts) -> tuple[str, ...] | None:
    """The scale of words that the categories belong to; empty for bands of numbers; None for neither."""
    if not f.text or f.kind != Kind.CATEGORICAL or len(f.distinct) < 2:
        return None
    found = set(f.distinct.cast(pl.String).to_list())
    for scale in _SCALES:
        for case in _CASES:
            cased = tuple(case(word) for word in scale)
            if found <= set(cased):
                return cased
    bands = f.sample.str.contains(r"\d ?(?:-|–|to) ?\d").mean()
    return () if f.looks(_BAND) and isinstance(bands, float) and bands >= 0.5 else None


_KIND_REASONS = {
    Kind.CONTINUOUS: "numbers with decimal places",
    Kind.INTEGER: "whole numbers",
    Kind.CATEGORICAL: "few different values",
    Kind.ORDINAL: "categories with an order",
    Kind.DATE: "dates",
    Kind.TEXT: "many different texts",
    Kind.GEOGRAPHIC: "places",
}


def _kind_reason(f: Facts, kind: Kind) -> str:
    if kind == Kind.TEXT and not f.text:
        return "values of a type that is left as it is"
    if f.labelled and kind == Kind.CATEGORICAL:
        return "every value has a label"
    if kind == Kind.CONTINUOUS and f.dtype.is_float() and f.whole:
        codes = "; few differ: if they are codes, write kind categorical"
        return "whole numbers of a decimal type" + (codes if f.few(FEW_NUMBERS) else "")
    return _KIND_REASONS[kind]


def _guess(f: Facts, draft: _Draft) -> Guess:
    """Put role and kind together, with one sentence for both."""
    open_kind = f.variable.kind is None and draft.kind is None
    kind = f.variable.kind or draft.kind or f.kind
    update: dict[str, object] = {"role": draft.role, "kind": kind}
    reasons = [draft.reason] if draft.reason else []
    order = _order(f) if open_kind else None
    if order is not None:
        update |= {"kind": Kind.ORDINAL, "order": order}
        why = "words of a known scale" if order else "bands of numbers; give their order"
        reasons.append(f"its categories are {why}")
    elif open_kind and not f.values.is_empty():
        reasons.append(_kind_reason(f, kind))
    if f.proposed:
        reasons.append("usual missing codes stand apart from the other values")
    variable = f.variable.model_copy(update=update)
    return Guess(f.name, variable, "; ".join(reasons) or "its kind is given", draft.certain and not f.proposed)
