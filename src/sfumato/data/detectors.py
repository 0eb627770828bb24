"""What the name and the values of a column say of its role: rules, each with its reason.

Reasons go into drafted plans, which are public, so they name forms and thresholds, never values or counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.kinds import FEW_NUMBERS, FEW_TEXTS, NEARLY_ALL, Facts
from sfumato.data.looking import in_words, telling
from sfumato.data.roles import Kind, Role

__all__ = [
    "BY_FORM",
    "BY_NAME",
    "Seeming",
    "first",
    "looks_identifying",
    "looks_private",
    "nhs_check_digit",
    "record_score",
]

_MANY = 20  # records below which being unique says little


@dataclass(frozen=True, slots=True)
class Seeming:
    """What the role of a column seems to be.

    Parameters
    ----------
    role
        The role.
    reason
        Why, without values or counts.
    certain
        Whether there is little doubt.
    kind
        Its kind, where the rule tells it.
    leaves
        Whether it should leave the table, whatever its role.
    scheme
        Classification whose codes it holds.
    """

    role: Role
    reason: str
    certain: bool = False
    kind: Kind | None = None
    leaves: bool = False
    scheme: str | None = None


_Rule = Callable[[Facts], Seeming | None]

_RECORD_WORDS = (
    r"id|pid|record|recordid|(?:record|person|participant|patient|passenger|subject|case|respondent|member|individual|"
    r"pupil|client|unit)s? ?(?:id|no|nr|number|code)|caseno|serial|uuid|guid"
)
_PERSON_WORDS = (
    r"^(?:pid|id|(?:person|participant|patient|subject|case|respondent|member|individual|pupil|client)s?(?: ?(?:id|no|"
    r"nr|number|code))?)$"
)
_FEWEST_PERSONS = 10
"""A column of that name with fewer different values tells of something else."""
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
_KNOWN_WORDS = r"(?:ethnic|race\b|racial|religio|faith|diagnos|disab)"
"""Of those what others may know as well."""
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

_NO_IDS = (
    r"(?:un|pre|re)?paid|(?:medic)?aid|bid|kid|mid|did|hid|void|avoid|raid|maid|said|laid|lid|rid|grid|covid|valid|"
    r"invalid|rapid|solid|fluid|liquid|humid|acid|amino ?acid|lipid|thyroid|steroid|opioid|hybrid|squid|rigid|arid|"
    r"placid|vivid|timid|orchid|android|asteroid|typhoid|\w+oid"
)

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


_SOME_FORM = "|".join(
    f"(?:{form})" for form in (*(pattern for pattern, *_ in _FORMS), _DATE_FORM, r"(?:[0-9][ -]*){10}")
)
"""Any of the forms that rules look for: most columns of texts have none, which one look tells."""


def _said(f: Facts) -> Seeming | None:
    if f.variable.role != Role.OTHER:
        return Seeming(f.variable.role, "its role is given", True)
    return Seeming(Role.OTHER, "it holds no values") if f.values.is_empty() else None


def _health_number(f: Facts) -> Seeming | None:
    """Ten digits whose last is the check digit; one random number in eleven passes, nearly all of them do not."""
    if not (f.text or (f.whole and f.low >= 1e8)) or f.distinct.is_empty():
        return None
    if f.text and not f.looks(_SOME_FORM):
        return None
    digits = _digits(f).str.replace_all(r"[ -]", "")
    digits = digits if f.text else digits.str.zfill(10)
    valid = digits.filter(digits.str.contains(r"^\d{10}$")).cast(pl.Int64).to_numpy()
    right = nhs_check_digit(valid // 10) == valid % 10
    if (len(digits) < 2 and not f.named("nhs")) or right.sum() < NEARLY_ALL * len(digits):
        return None
    return Seeming(Role.IDENTIFIER, "ten digits with the check digit of an NHS number", True, Kind.TEXT)


def _digits(f: Facts) -> pl.Series:
    """The values looked at; whole numbers that were read as decimal ones (9434765919.0) without what that added."""
    if f.dtype.is_float():
        return f.distinct.cast(pl.Int64, strict=False).drop_nulls().sort().head(f.looking.sample).cast(pl.String)
    return f.sample.str.replace(r"\.0+$", "")


def _number(f: Facts) -> Seeming | None:
    """Whole numbers nearly all of which are card numbers, or telephone numbers that lost their first 0."""
    if f.text or not f.whole or f.low < 1e8:
        return None
    shares = f.looking.shares(_digits(f))
    for kind in ("card", "phone"):
        if shares.get(kind, 0) >= NEARLY_ALL and len(f.distinct) > 1:
            return Seeming(Role.IDENTIFIER, f"its numbers have the form of {in_words([kind])}", True, Kind.TEXT)
    return None


_WEAK = ("postcode", "phone", "nhs_number", "ni_number", "ip", "card", "iban")
"""Kinds whose form a code may have by chance."""
_SOME = 0.1


def _in_labels(f: Facts) -> Seeming | None:
    """Labels leave with a release whoever has the value."""
    if not (held := telling(f.found_in_labels)):
        return None
    why = f"some value labels hold {in_words(held)}: to keep it, give it labels without them"
    return Seeming(Role.IDENTIFIER, why, True, leaves=True)


def _inside(f: Facts) -> Seeming | None:
    """Texts that hold something personal somewhere; of codes many must, since they may look like anything."""
    if not f.text:
        return None
    codes = (NEARLY_ALL if f.unique else _SOME) if f.looks(r"\S+") else 0.0
    least = {kind: max(f.looking.threshold, codes if kind in _WEAK else 0.0) for kind in f.found}
    held = [kind for kind in telling(f.found) if f.found[kind] >= least[kind]]
    if not held:
        return None
    more = "" if (text := _text(f)) is None else f"{text.reason}; "
    return Seeming(Role.IDENTIFIER, f"{more}some texts hold {in_words(held)}", kind=Kind.TEXT)


def _form(f: Facts) -> Seeming | None:
    if f.dtype != pl.String or not f.looks(_SOME_FORM):
        return None
    for pattern, role, kind, what in _FORMS:
        if f.looks(pattern):
            return Seeming(role, f"its values have the form of {what}", True, kind)
    return None


def _identifier_name(f: Facts) -> Seeming | None:
    if f.named(_NUMBER_WORDS) and (f.text or f.whole) and not f.few(FEW_NUMBERS):
        return Seeming(Role.IDENTIFIER, "its name is that of an official number", kind=Kind.TEXT)
    if f.named("phone|telephone|tel|mobile|fax|email|mail") and (f.text or f.whole) and not f.few(FEW_NUMBERS):
        return Seeming(Role.IDENTIFIER, "its name is that of a way to reach a person", kind=Kind.TEXT)
    if not f.text:
        return None
    if f.named(r"address\w*|street|addr") and f.kind == Kind.TEXT:
        return Seeming(Role.IDENTIFIER, "its name is that of an address")
    if f.named(_NAME_WORDS) or (f.named("names?") and f.kind == Kind.TEXT):
        return Seeming(Role.IDENTIFIER, "its name says that it holds names of people", f.kind == Kind.TEXT, Kind.TEXT)
    return None


def _is_date(f: Facts) -> bool:
    if f.dtype in (pl.Date, pl.Datetime):
        return True
    if f.dtype == pl.String:
        return f.looks(_SOME_FORM) and f.looks(_DATE_FORM)
    if not f.whole or not (f.low >= 18000101 and f.high <= 21991231) or len(f.distinct) < 2:
        return False
    days = _digits(f).str.to_date("%Y%m%d", strict=False)  # 19581231: few numbers of that size are dates by chance
    return days.null_count() <= (1 - NEARLY_ALL) * len(days)


def _date(f: Facts) -> Seeming | None:
    birth = f.named(r"dob|birth\w*|born|dateofbirth|birthdate")
    if not _is_date(f):
        if birth and f.whole and f.low >= 1850 and f.high <= 2100:
            return Seeming(Role.KEY, "a year of birth may be known to others", False)
        return None
    if birth:
        return Seeming(Role.KEY, "a date of birth is known to others and nearly unique", True, Kind.DATE)
    return Seeming(Role.KEY, "the date of an event may be known to others", False, Kind.DATE)


def _coordinates(f: Facts) -> Seeming | None:
    if not f.dtype.is_numeric():
        return None
    degrees = f.low >= -180 and f.high <= 180 and f.named(r"lat|latitude|lon|long|lng|longitude|home lat|home lon")
    if degrees or f.named(r"eastings?|northings?|[xy] ?coord\w*|coord\w* ?[xy]"):
        return Seeming(Role.KEY, "its name is that of a coordinate, which points to a place", False, Kind.GEOGRAPHIC)
    return None


def _household(f: Facts) -> Seeming | None:
    named = f.named(r"household|hh|hhid|hid|house|family ?(?:id|no|nr|number)|famid|fid|dwelling")
    other = f.named(r"size|income|type|count|head|members?|weights?|wt|tenure|persons?|of|price|value")
    if not named or other or not (f.text or f.whole):
        return None
    if len(f.distinct) < len(f.values) and not f.few(FEW_NUMBERS):
        return Seeming(Role.HOUSEHOLD, "its name is that of a household or family, and its values repeat")
    return None


def _person(f: Facts) -> Seeming | None:
    if not f.named(_PERSON_WORDS) or not (f.text or f.whole):
        return None
    if _FEWEST_PERSONS <= len(f.distinct) < len(f.values):
        return Seeming(Role.PERSON, "its name is that of an id of people, and several records share a value")
    return None


def _weight(f: Facts) -> Seeming | None:
    if not f.named(_WEIGHT_WORDS) or not f.dtype.is_numeric() or f.low < 0:
        return None
    if f.named(_DESIGN_WORDS):
        why = "its name is that of a sampling weight and no value is negative"
        return Seeming(Role.WEIGHT, why, not f.whole, Kind.INTEGER if f.dtype.is_integer() else Kind.CONTINUOUS)
    if not (f.named(_BODY_WORDS) or f.variable.unit in _BODY_UNITS):
        kind = Kind.INTEGER if f.dtype.is_integer() else Kind.CONTINUOUS
        if f.few(FEW_NUMBERS if f.whole else FEW_TEXTS):
            why = "few different positive numbers, as weights of strata are; a body weight would be role key"
            return Seeming(Role.WEIGHT, why, kind=kind)
        median = f.values.median()
        if isinstance(median, int | float) and 0.2 <= median <= 5 and not f.whole:
            why = "positive numbers around one, as sampling weights have; a body weight would be role key"
            return Seeming(Role.WEIGHT, why, kind=kind)
    return Seeming(Role.KEY, "a body weight may be known to others; for a sampling weight write role weight")


def first(rules: Sequence[_Rule], facts: Facts) -> Seeming | None:
    """What the first rule says that says something."""
    return next((draft for rule in rules if (draft := rule(facts)) is not None), None)


def _sensitive(f: Facts) -> Seeming | None:
    if f.says(_KNOWN_WORDS) and f.kind in (Kind.CATEGORICAL, Kind.ORDINAL):
        return Seeming(Role.KEY, "its name or label is that of something that others may know")
    if looks_private(f):
        return Seeming(Role.SENSITIVE, "its name or label is that of something to be kept private")
    return None


def looks_private(f: Facts) -> bool:
    """Whether a column's name or label is that of something to be kept private, whoever may know it already.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> looks_private(Facts(pl.Series("religion", ["a", "b"]), Variable(role="key")))
    True
    """
    return f.says(_SENSITIVE_WORDS)


def _key(f: Facts) -> Seeming | None:
    if f.named(r"post ?code|postal ?code|zip|zip ?code") and (f.text or f.whole):
        return Seeming(Role.KEY, "its name is that of a postcode", False, Kind.GEOGRAPHIC)
    if f.says(_KEY_WORDS):
        return Seeming(Role.KEY, "its name is that of something that others may know")
    if f.named(_OUTCOME_WORDS) and f.kind == Kind.CATEGORICAL:
        return Seeming(Role.OUTCOME, "its name is that of a result that studies explain")
    return None


def _text(f: Facts) -> Seeming | None:
    if f.dtype != pl.String or f.kind != Kind.TEXT:
        return None
    words = f.sample.str.count_matches(r"\S+").mean()
    length = f.sample.str.len_chars().mean()
    if isinstance(words, float) and isinstance(length, float) and (words >= 5 or length >= 40):
        return Seeming(Role.IDENTIFIER, "free text can name people: read it, or leave it out")
    if f.unique:
        return Seeming(Role.IDENTIFIER, "each record has a text of its own")
    if 2 * len(f.distinct) >= len(f.values):
        return Seeming(Role.IDENTIFIER, "most texts belong to one record or two")
    return None


def _other_id(f: Facts) -> Seeming | None:
    if record_score(f) >= 2:
        return Seeming(Role.IDENTIFIER, "an id of its own for each record, beside the record column")
    if (f.whole or f.text) and _named_id(f) and not f.few(FEW_NUMBERS):
        return Seeming(Role.IDENTIFIER, "its name is that of an id, which several records share", kind=Kind.CATEGORICAL)
    return None


_SCHEMES = (
    ("soc2020", r"soc", r"[1-9]\d{2,3}|[1-9]\d{5}", Role.KEY, "occupations (SOC)"),
    ("isco", r"isco", r"\d{3,4}", Role.KEY, "occupations (ISCO)"),
    ("sic", r"u?k? ?sic|nace", r"\d{4,5}|\d{1,2}[./]\d{1,2}(?:[./]\d)?", Role.KEY, "industries (SIC)"),
    ("icd10", r"icd", r"(?i)[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?", Role.SENSITIVE, "diagnoses (ICD-10)"),
)


def _codes(f: Facts) -> Seeming | None:
    """Codes of a classification, whose first characters name broader groups."""
    if f.variable.kind in (Kind.CONTINUOUS, Kind.DATE) or not (f.text or f.whole):
        return None
    for scheme, name, form, role, what in _SCHEMES:
        share = _digits(f).str.contains(rf"^(?:{form})$").mean() if f.named(name) and len(f.distinct) else None
        if isinstance(share, float) and share >= NEARLY_ALL:
            return Seeming(role, f"codes of {what} by name and form", False, Kind.CATEGORICAL, scheme=scheme)
    return None


def _named_id(f: Facts) -> bool:
    """Whether a word of the name ends as ids do: `UTILITYID`, but not `paid`."""
    return f.named(r"ids?|\w*id") and not f.named(_NO_IDS)


def record_score(f: Facts) -> float:
    """How well a column would do as the record's id; 0 where it would not."""
    if f.variable.role != Role.OTHER or not (f.whole or f.text) or not f.unique:
        return 0
    if f.named(_RECORD_WORDS):
        return 3
    if f.named("key|code|number|no|nr") or _named_id(f):
        return 2
    if f.says(_KEY_WORDS) or f.says(_SENSITIVE_WORDS):
        return 0
    if f.whole and f.high - f.low + 1 == f.rows and f.rows > 2:
        return 1  # a run without gaps
    code = f.looks(r"\S{0,39}\d\S{0,39}") if f.text else len(str(int(f.low))) == len(str(int(f.high)))
    return 0.5 if code and f.rows >= _MANY else 0


BY_FORM: tuple[_Rule, ...] = (
    _said,
    _in_labels,
    _health_number,
    _number,
    _form,
    _identifier_name,
    _date,
    _coordinates,
    _inside,
    _household,
    _person,
    _weight,
)
BY_NAME: tuple[_Rule, ...] = (_codes, _other_id, _sensitive, _key, _text)


def looks_identifying(facts: Facts, *, record: bool = True) -> str | None:
    """Give the reason for which a column whose role nobody said looks as if it named people; None where it does not.

    Parameters
    ----------
    facts
        The column.
    record
        Whether another column is known to be the record's id. Where none is, a number of its own for each record may
        be just that.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> looks_identifying(Facts(pl.Series("contact", ["a@example.org", "b@example.org"]), Variable()))
    'its values have the form of e-mail addresses'
    """
    seems = first((*BY_FORM, *BY_NAME), facts)
    if seems is None or seems.role != Role.IDENTIFIER:
        return None
    by_form = first(BY_FORM, facts) is not None
    return None if not (record or by_form) and facts.whole and record_score(facts) > 0 else seems.reason


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
