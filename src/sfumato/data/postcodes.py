"""The grammar of United Kingdom postcodes, read from the right, and their parts.

A postcode is an outward code (area and district: `EC1A`) and an inward code (`1BB`), which always has three characters:
a digit, the sector, and two letters. So codes are read without a space too, and where the space stands tells nothing.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

__all__ = ["PART", "PARTS", "part_of"]

PART = Literal["area", "district", "sector"]
"""A part of a postcode that is released."""
PARTS: tuple[PART, ...] = ("area", "district", "sector")
"""From the broadest on: `EC`, `EC1A`, `EC1A 1`."""

_UNITED_KINGDOM = (
    "AB AL B BA BB BD BH BL BN BR BS BT CA CB CF CH CM CO CR CT CV CW DA DD DE DG DH DL DN DT DY E EC EH EN EX FK "
    "FY G GL GU HA HD HG HP HR HS HU HX IG IP IV KA KT KW KY L LA LD LE LL LN LS LU M ME MK ML N NE NG NN NP NR "
    "NW OL OX PA PE PH PL PO PR RG RH RM S SA SE SG SK SL SM SN SO SP SR SS ST SW SY TA TD TF TN TQ TR TS TW UB W "
    "WA WC WD WF WN WR WS WV YO ZE"
)
_ISLANDS = "GY IM JE"  # Guernsey, Isle of Man, Jersey
_NOWHERE = "BF BX"  # forces, and large receivers without a place
_AREAS = frozenset(f"{_UNITED_KINGDOM} {_ISLANDS} {_NOWHERE}".split())
_GIRO = "GIR"  # the one outward code of another form, with the inward code 0AA
# A9, A99, AA9, AA99; A9A (W1A); AA9A (EC1A)
_DISTRICT = re.compile(r"([A-Z]{1,2})(?:[0-9]{1,2}|[0-9][A-HJKMNP-Y])")
_INWARD = re.compile(r"[0-9][ABD-HJLNP-UW-Z]{2}")
_DIGIT = re.compile(r"[0-9]")
_SPACES = re.compile(r"\s+")


def part_of(text: str, part: PART) -> str | None:
    """Give a part of a postcode; None where the text is no postcode, or is itself broader than that part.

    Letters may be small, spaces may be anywhere or nowhere. A code may end with its outward code, or with its sector;
    the latter needs its space where it could be a district too (`EC1 1`).

    Parameters
    ----------
    text
        What was written for a postcode.
    part
        The part.

    Examples
    --------
    >>> [part_of(code, "sector") for code in ("EC1A 1BB", "m11ae", "W1A  0ax", "GIR 0AA", "EC1A", "75001")]
    ['EC1A 1', 'M1 1', 'W1A 0', 'GIR 0', None, None]
    >>> part_of("EC1A", "district"), part_of("EC1A", "area")
    ('EC1A', 'EC')
    """
    area, district, sector = _parsed(unicodedata.normalize("NFKC", text).upper())
    if part == "area":
        return area
    if part == "district":
        return district
    return None if district is None or sector is None else f"{district} {sector}"


def _parsed(text: str) -> tuple[str | None, str | None, str | None]:
    """Area, district and the digit of the sector, as far as a text in capitals tells them."""
    words = _SPACES.sub(" ", text).strip()
    bare = words.replace(" ", "")
    if bare in _AREAS:
        return bare, None, None
    spaced = words.rpartition(" ")
    if _INWARD.fullmatch(bare[-3:]) and (area := _area(bare[:-3])):
        return (area, bare[:-3], bare[-3]) if bare[:-3] != _GIRO or bare[-3:] == "0AA" else (None, None, None)
    if _DIGIT.fullmatch(spaced[2]) and (area := _area(spaced[0].replace(" ", ""))):
        return area, spaced[0].replace(" ", ""), spaced[2]
    if area := _area(bare):
        return area, bare, None
    if _DIGIT.fullmatch(bare[-1:]) and (area := _area(bare[:-1])):
        return area, bare[:-1], bare[-1]
    return None, None, None


def _area(outward: str) -> str | None:
    """The area of an outward code; None where it is none."""
    if outward == _GIRO:
        return _GIRO
    found = _DISTRICT.fullmatch(outward)
    return found[1] if found and found[1] in _AREAS else None
