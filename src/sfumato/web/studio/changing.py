"""What a form of the page Data says of a variable, as values of the plan."""

from __future__ import annotations

import csv
import math
from typing import Any

from sfumato.data.codebook import Missing, Variable
from sfumato.data.extended import meant, shown
from sfumato.plan.editing.tree import Key
from sfumato.web.problems import Problem

__all__ = ["codes_in_words", "news"]

_BETWEEN = " to "


def codes_in_words(variable: Variable) -> str:
    """Missing codes as they are typed: `-9, -8, 90 to 99`."""
    return ", ".join(_word(missing) for missing in variable.missing)


def _word(missing: Missing) -> str:
    if missing.code is None:
        return f"{_figure(missing.low)}{_BETWEEN}{_figure(missing.high)}"
    text = str(shown(missing.code))
    return f'"{text}"' if "," in text or _BETWEEN in text or text != text.strip() else text


def _figure(number: float | None) -> str:
    return "" if number is None else str(int(number)) if float(number).is_integer() else str(number)


def news(variable: Variable, of_file: Variable, texts: bool, form: dict[str, str]) -> dict[Key, Any]:
    """What is to be written of a variable: those keys alone that a form changes.

    Parameters
    ----------
    variable
        As the plan takes it.
    of_file
        What the file says of it, to tell which of the codes that it marks are not wanted.
    texts
        Whether the column holds texts.
    form
        `label`, `unit`, `missing`, `low`, `high`; empty is none.

    Raises
    ------
    Problem
        422 with what cannot be read.
    """
    found: dict[Key, Any] = {}
    for key in ("label", "unit"):
        said = form.get(key, "") or None
        if said != (getattr(variable, key) or None):
            found[key] = said
    low, high = _bound(form.get("low", "")), _bound(form.get("high", ""))
    if low is not None and high is not None and low > high:
        raise Problem(422, "The lowest possible value is above the highest.")
    bounds = None if low is None and high is None else (low, high)
    if bounds != variable.range:
        found["range"] = None if bounds is None else list(bounds)
    codes = _codes(form.get("missing", ""), texts)
    if [_key(code) for code in codes] != [_key(code) for code in variable.missing]:
        found |= _missing(codes, variable, of_file)
    return found


def _bound(text: str) -> float | None:
    if not text:
        return None
    number = _number(text)
    if number is None:
        raise Problem(422, "A range has numbers as its ends, or nothing where it is open.")
    return number


def _number(text: str) -> int | float | None:
    try:
        number = float(text.replace("−", "-"))
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _codes(text: str, texts: bool) -> list[Missing]:
    try:
        parts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True, strict=True), [])]
    except csv.Error:
        raise Problem(422, "Missing codes stand with commas between; quotes are closed.") from None
    codes = []
    for part in filter(None, parts):
        ends = [_number(end.strip()) for end in part.split(_BETWEEN)]
        if not texts and len(ends) == 2 and None not in ends:
            low, high = sorted(end for end in ends if end is not None)
            codes.append(Missing(low=low, high=high))
            continue
        number = None if texts else ends[0]
        code = meant(part) if number is None else number
        if not texts and isinstance(code, str):
            raise Problem(422, "Missing codes of numbers are numbers, ranges such as 90 to 99, or .a to .z.")
        codes.append(Missing(code=code))
    return codes


def _key(missing: Missing) -> tuple[Any, Any, Any]:
    code = missing.code
    number = code if isinstance(code, str) or code is None else float(code)
    return number, missing.low, missing.high


def _missing(codes: list[Missing], variable: Variable, of_file: Variable) -> dict[Key, Any]:
    """Codes as a plan has them; where the file marks some that are not wanted, that its marks do not count."""
    wanted = {_key(code) for code in codes}
    marked = {_key(code) for code in of_file.missing}
    gaps = {_key(code) for code in variable.missing if code.gap}
    labels = {_key(code): code.label for code in variable.missing if _key(code) not in marked}
    written: list[Any] = []
    for code in codes:
        label = labels.get(_key(code))
        if code.code is not None and label is None and _key(code) not in gaps:
            written.append(shown(code.code))
            continue
        plain: dict[str, Any] = (
            {"low": code.low, "high": code.high} if code.code is None else {"code": shown(code.code)}
        )
        plain |= {"label": label} if label else {}
        written.append(plain | ({"gap": True} if _key(code) in gaps else {}))
    found: dict[Key, Any] = {"missing": written}
    if not marked <= wanted:
        found["missing_from_file"] = False
    return found
