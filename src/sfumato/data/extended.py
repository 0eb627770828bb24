"""The extended missing values of Stata (`.a` to `.z`) and SAS (`._` too), and how they are shown.

In a column of doubles each is the double that Stata itself stores for it, 2^1023·(1 + n/4096) with n = 1 for `.a` to 26
for `.z` (Stata's manual, `help dta`, "missing values"); n = 27 is SAS's `._`. All are larger than any number that Stata
holds. Plans, codebooks and papers show them by their letters.
"""

from __future__ import annotations

from typing import Any

__all__ = ["CODES", "LETTERS", "meant", "shown"]

CODES: dict[str, float] = {
    letter: 2.0**1023 * (1 + n / 4096) for n, letter in enumerate("abcdefghijklmnopqrstuvwxyz_", start=1)
}
"""The double of each letter."""

LETTERS: dict[float, str] = {code: letter for letter, code in CODES.items()}
"""The letter of each double."""


def shown(code: Any) -> Any:
    """Give a code as people write it: `.a` for its double, any other as it is.

    Examples
    --------
    >>> shown(CODES["a"]), shown(-9)
    ('.a', -9)
    """
    return f".{LETTERS[code]}" if isinstance(code, float) and code in LETTERS else code


def meant(code: Any) -> Any:
    """Give the code that people mean by `.a`: its double; any other as it is.

    Examples
    --------
    >>> meant(".A") == CODES["a"], meant("x")
    (True, 'x')
    """
    letter = code[1:].lower() if isinstance(code, str) and code.startswith(".") else None
    return CODES.get(letter, code) if letter else code
