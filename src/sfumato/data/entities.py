"""Where a text holds personal data that have a form: e-mail addresses, telephone numbers, postcodes, account numbers.

Names of people and places have no form, so nothing here finds them. What is found may be something else of that form;
where a number has check digits, they must be right. Every pattern looks at a text in time that grows with its length.
"""

from __future__ import annotations

import calendar
import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from sfumato.data.hierarchy import as_texts

__all__ = ["KINDS", "Entity", "EntityKind", "find", "found", "joined", "share_with"]

EntityKind = Literal["email", "url", "ip", "phone", "postcode", "nhs_number", "ni_number", "iban", "card", "date"]
"""What can be found."""

KINDS: tuple[EntityKind, ...] = get_args(EntityKind)


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of a text that has the form of something personal.

    Parameters
    ----------
    kind
        What it has the form of.
    start, end
        Its first character, from 0, and the one after its last.
    """

    kind: str
    start: int
    end: int


_Spans = Iterator[tuple[int, int]]

# what stands around a number: it is whole, not part of a longer number or of a code; 7911123456.0 was read as a float
_BEFORE = r"(?<![0-9A-Za-z_])(?<![0-9][.])"
_AFTER = r"(?:\.0{1,2}(?![0-9]))?(?![0-9A-Za-z_]|\.[0-9])"
_GLUED = rf"(?:{_BEFORE}|(?<=\b[tm])|(?<=\btel)|(?<=\bmob)|(?<=\bmobile)|(?<=\bphone)|(?<=\bph))"

_EMAIL_END = re.compile(r"@(?:[\w-]{1,63}\.)+(?:[^\W\d_]{2,63}|xn--[\w-]{1,59})")
_LOCAL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]")
_WEB = re.compile(
    r"(?:(?:https?|ftp)://|(?<![\w.])www\.)[^\s<>\"]+"
    r"|(?<![\w@.-])(?:[\w-]{1,63}\.){1,8}"
    r"(?:(?:com|org|net|edu|gov|info|io|eu|(?:co|org|ac|gov|nhs|me|ltd|plc|sch)\.uk)(?![\w.-]*\w)(?:[/?#][^\s<>\"]*)?"
    r"|[a-z]{2,12}/[^\s<>\"]+)",
    re.IGNORECASE,
)
_IP4 = re.compile(r"(?<![0-9A-Za-z_])(?<![0-9][.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z_]|\.[0-9])")
_IP6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]{3,39}(?:(?<=:)(?:[0-9]{1,3}\.){3}[0-9]{1,3})?(?![\w:])")
_UK_PHONE = re.compile(
    rf"{_GLUED}(?:\(0[0-9]{{2,5}}\)|0[0-9]{{2,5}})[ .-]{{0,2}}[0-9]{{3,4}}[ .-]?[0-9]{{3,4}}"
    rf"(?: ?(?:x|ext\.?|extension) ?[0-9]{{1,6}})?{_AFTER}",
    re.IGNORECASE,
)
_ABROAD = re.compile(rf"(?<![0-9])\+ ?[1-9](?:[ ().-]{{0,3}}[0-9]){{6,14}}{_AFTER}")
_FROM_ABROAD = re.compile(rf"{_GLUED}00 ?44(?:[ ().-]{{0,3}}[0-9]){{9,11}}{_AFTER}", re.IGNORECASE)
_MOBILE = re.compile(rf"{_GLUED}7[1-9][0-9]{{8}}{_AFTER}", re.IGNORECASE)  # its leading 0 was lost
_RUN = re.compile(r"(?<![0-9A-Za-z_])[+(]{0,2}[0-9](?:[ ().\-/]{0,3}[0-9])+")
_PREFIXED = re.compile(r"\+|(?<![0-9])0[0-9]")
_POSTCODE = re.compile(
    r"(?<![0-9A-Za-z_])(?:[A-PR-UWYZ](?:[0-9]{1,2}|[A-HK-Y][0-9]|[A-HK-Y][0-9]{2}|[0-9][A-HJKPSTUW]"
    r"|[A-HK-Y][0-9][ABEHMNPRV-Y])|GIR) {0,2}[0-9][ABD-HJLNP-UW-Z]{2}(?![0-9A-Za-z_])",
    re.IGNORECASE,
)
_NHS = re.compile(rf"{_BEFORE}[0-9]{{3}}[ -]?[0-9]{{3}}[ -]?[0-9]{{4}}{_AFTER}")
_NI = re.compile(
    r"(?<![0-9A-Za-z_])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?:[ -]?[0-9]{2}){3}[ -]?[A-D](?![0-9A-Za-z_])", re.IGNORECASE
)
_IBAN = re.compile(r"(?<![0-9A-Za-z_])[A-Z]{2}[0-9]{2}(?:[ -]?[0-9A-Z]){11,30}", re.IGNORECASE)
_CARD = re.compile(rf"{_BEFORE}[2-6](?:[ -]?[0-9]){{12,18}}")
_MONTHS = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in calendar.month_name[1:]) + "|sept"
_YEAR = r"(?:1[5-9]|2[01])[0-9]{2}"
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
_CLOCK = r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_DATE_WORDS = re.compile(
    rf"(?<![0-9A-Za-z_])(?:{_DAY}[ .-]{{0,2}}(?:of )?(?:{_MONTHS})[ .,-]{{0,2}}(?:{_YEAR}|'?[0-9]{{2}})"
    rf"|(?:{_MONTHS})[ .-]{{1,2}}{_DAY},? {{1,2}}{_YEAR}|(?:{_MONTHS})[ .,-]{{1,2}}{_YEAR})(?![0-9A-Za-z_])",
    re.IGNORECASE,
)
_DATE_NUMBERS = re.compile(
    r"(?<![0-9A-Za-z_])(?<![0-9][./-])(?:"
    rf"(?P<y>{_YEAR})(?P<s>[-/.]?)(?P<m>[0-9]{{1,2}})(?P=s)(?P<d>[0-9]{{1,2}}){_CLOCK}"
    rf"|(?P<a>[0-9]{{1,2}})(?P<t>[-/.]| ?[-/.] ?)(?P<b>[0-9]{{1,2}})(?P=t)(?:{_YEAR}|[0-9]{{2}})"
    rf"|(?P<e>[0-9]{{2}}) (?P<f>[0-9]{{2}}) {_YEAR})(?![0-9A-Za-z_]|[./-][0-9])"
)


def _emails(text: str) -> _Spans:
    last = 0
    for match in _EMAIL_END.finditer(text):
        start = match.start()
        while start > last and _LOCAL.match(text, start - 1):
            start -= 1
        if start < match.start():
            yield start, match.end()
        last = match.end()


def _urls(text: str) -> _Spans:
    for match in _WEB.finditer(text):
        kept = match.group().rstrip(".,;:!?)]}'")
        if len(kept) > len("www."):
            yield match.start(), match.start() + len(kept)


def _ips(text: str) -> _Spans:
    for match in _IP4.finditer(text):
        if all(int(part) <= 255 for part in match.group().split(".")):
            yield match.span()
    for match in _IP6.finditer(text) if text.count(":") > 1 else ():
        try:
            ipaddress.IPv6Address(match.group())
        except ValueError:
            continue
        if match.group().strip(":"):
            yield match.span()


def _phones(text: str) -> _Spans:
    known = [
        match.span()
        for match in _UK_PHONE.finditer(text)
        if 10 <= _digits(re.split("[xXeE]", match.group().removesuffix(".0"), maxsplit=1)[0]) <= 11
    ]
    known += [match.span() for pattern in (_ABROAD, _FROM_ABROAD, _MOBILE) for match in pattern.finditer(text)]
    yield from known
    rest = list(text)
    for start, end in known:
        rest[start:end] = ";" * (end - start)
    for run in _RUN.finditer("".join(rest)):  # numbers in other groups, by the library's rules for each country
        if _PREFIXED.search(run.group()):
            yield from _by_library(run)


def _by_library(run: re.Match[str]) -> _Spans:
    """Numbers that the library knows as valid, in a stretch of digits."""
    import phonenumbers  # takes a moment to import

    if _digits(run.group()) < 8:
        return
    matcher = phonenumbers.PhoneNumberMatcher(run.group(), "GB", leniency=phonenumbers.Leniency.VALID)
    for match in matcher:
        yield run.start() + match.start, run.start() + match.end


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _postcodes(text: str) -> _Spans:
    return (match.span() for match in _POSTCODE.finditer(text))


def _nhs_numbers(text: str) -> _Spans:
    from stdnum.gb import nhs

    return (m.span() for m in _NHS.finditer(text) if nhs.is_valid(re.sub("[ -]", "", m.group())[:10]))


def _ni_numbers(text: str) -> _Spans:
    return (match.span() for match in _NI.finditer(text))


def _ibans(text: str) -> _Spans:
    from stdnum import iban

    for match in _IBAN.finditer(text):
        for end in _ends(text, match, 15):
            if iban.is_valid(re.sub("[ -]", "", text[match.start() : end]), check_country=False):
                yield match.start(), end
                break


def _cards(text: str) -> _Spans:
    from stdnum import luhn

    for match in _CARD.finditer(text):
        for end in _ends(text, match, 13):
            if luhn.is_valid(re.sub("[ -]", "", text[match.start() : end])):
                yield match.start(), end
                break


def _ends(text: str, match: re.Match[str], fewest: int) -> Iterator[int]:
    """Where a number may end that another number or a word may follow: before no letter and no digit, longest first."""
    for end in range(match.end(), match.start() + fewest - 1, -1):
        follows = text[end : end + 1]
        if text[end - 1].isalnum() and not (follows.isalnum() or follows == "_"):
            yield end


def _dates(text: str) -> _Spans:
    for match in _DATE_NUMBERS.finditer(text):
        parts = match.groupdict()
        first, second = (int(parts[x] or parts[y] or parts[z]) for x, y, z in (("m", "a", "e"), ("d", "b", "f")))
        compact = parts["y"] and not parts["s"]
        in_order = first <= 12 and second <= 31
        possible = in_order or (not parts["y"] and second <= 12 and first <= 31)
        if min(first, second) > 0 and possible and not (compact and len(parts["m"] + parts["d"]) < 4):
            yield match.span()
    yield from (match.span() for match in _DATE_WORDS.finditer(text))


_FINDERS: dict[str, tuple[str, Callable[[str], _Spans]]] = {
    "email": ("@", _emails),
    "url": (r"(?i)://|www\.|[a-z0-9]\.[a-z]", _urls),
    "ip": (r"[0-9]\.[0-9]{1,3}\.[0-9]|:.*:", _ips),
    "phone": (r"[0-9](?:[^0-9A-Za-z]{0,3}[0-9]){6}", _phones),
    "postcode": (r"(?i)[0-9R] {0,2}[0-9][a-z]{2}|[A-Z] {0,2}[0-9][a-z]{2}", _postcodes),
    "nhs_number": (r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}", _nhs_numbers),
    "ni_number": (r"(?i)[a-z]{2}[ -]?[0-9]{2}[ -]?[0-9]{2}", _ni_numbers),
    "iban": (r"(?i)[a-z]{2}[0-9]{2}[ -]?[0-9a-z]", _ibans),
    "card": (r"[2-6](?:[ -]?[0-9]){12}", _cards),
    "date": (rf"(?i)[0-9] ?[-/. ] ?[0-9]{{1,2}} ?[-/. ] ?[0-9]|[0-9]{{8}}|(?:{_MONTHS})[ .,'-]{{0,4}}[0-9]", _dates),
}
"""By kind, a quick test that every text passes that holds one, and what finds where."""


def find(text: str, kinds: Sequence[str] = KINDS) -> list[Entity]:
    """Find what has the form of something personal, from left to right; nothing overlaps.

    Where two finds overlap, they are one, of the kind of the longer.

    Parameters
    ----------
    text
        Any text.
    kinds
        What to look for.

    Examples
    --------
    >>> find("Call 020 7946 0958, or write to jo@example.org")
    [Entity(kind='phone', start=5, end=18), Entity(kind='email', start=32, end=46)]
    """
    plain, places = _folded(text)
    spans = [Entity(kind, *span) for kind in kinds for span in _FINDERS[kind][1](plain)]
    return [Entity(e.kind, places(e.start), places(e.end - 1) + 1) for e in joined(spans)]


def _folded(text: str) -> tuple[str, Callable[[int], int]]:
    """A text in plain digits, letters, spaces and hyphens where it has odd ones, and where each character stood."""
    if text.isascii():
        return text, int
    pairs = [(plain, i) for i, sign in enumerate(text) for plain in _plain(sign)]
    return "".join(plain for plain, _ in pairs), lambda place: pairs[place][1]


def _plain(sign: str) -> str:
    """One character for one, or none for a character that nobody sees."""
    if sign.isascii():
        return sign
    category = unicodedata.category(sign)
    if category == "Cf":
        return ""
    if category in ("Pd", "Zs"):
        return "-" if category == "Pd" else " "
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    plain = unicodedata.normalize("NFKC", sign)
    return plain if len(plain) == 1 else sign


def joined(entities: Sequence[Entity]) -> list[Entity]:
    """What overlaps as one stretch, of the kind of the longest part; sorted.

    Examples
    --------
    >>> joined([Entity("url", 0, 9), Entity("email", 5, 20)])
    [Entity(kind='email', start=0, end=20)]
    """
    result: list[Entity] = []
    longest = 0
    for entity in sorted(entities, key=lambda e: (e.start, -e.end)):
        length = entity.end - entity.start
        if result and entity.start < result[-1].end:
            last = result.pop()
            kind, longest = (entity.kind, length) if length > longest else (last.kind, longest)
            result.append(Entity(kind, last.start, max(last.end, entity.end)))
        else:
            result.append(entity)
            longest = length
    return result


def found(texts: pl.Series, kinds: Sequence[str] = KINDS) -> dict[str, list[Entity]]:
    """What is found in each different text of a column; texts without a find are left out.

    Parameters
    ----------
    texts
        Texts; null where there is none.
    kinds
        What to look for.

    Examples
    --------
    >>> found(pl.Series(["none", "LS2 9JT", None]))
    {'LS2 9JT': [Entity(kind='postcode', start=0, end=7)]}
    """
    distinct = texts.drop_nulls().unique().sort()
    odd = ~distinct.str.contains(r"^[[:ascii:]]*$")
    hints = pl.DataFrame({kind: distinct.str.contains(_FINDERS[kind][0]) | odd for kind in kinds})
    some = distinct.to_frame("text").hstack(hints).filter(pl.any_horizontal(list(hints.columns)))
    result = {}
    for text, *flags in some.iter_rows():
        if entities := find(text, [kind for kind, flag in zip(kinds, flags, strict=True) if flag]):
            result[text] = entities
    return result


def share_with(values: pl.Series, kinds: Sequence[str] = KINDS) -> dict[EntityKind, float]:
    """Share of the values that are not missing which hold something of each kind; 0 for a column of missing values.

    Parameters
    ----------
    values
        Texts, or numbers, which are read as they would be written.
    kinds
        What to look for.

    Examples
    --------
    >>> share_with(pl.Series(["LS2 9JT", "Leeds", None, "at LS2 9JT"]))["postcode"]
    0.6666666666666666
    """
    texts = values.to_frame("text").select(as_texts(pl.col("text"), values.dtype)).to_series().drop_nulls()
    counts = dict(texts.value_counts(name="records").iter_rows())
    total = sum(counts.values())
    hits: dict[str, int] = dict.fromkeys(kinds, 0)
    for text, entities in found(texts, kinds).items():
        for kind in {e.kind for e in entities}:
            hits[kind] += counts[text]
    return {kind: (hits[kind] / total if total else 0.0) for kind in kinds}  # type: ignore[misc]
