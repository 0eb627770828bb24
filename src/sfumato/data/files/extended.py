"""The extended missing values of Stata (`.a` to `.z`) and SAS (`.A` to `.Z`, `._`) as codes in columns of numbers.

Both packages have missing values that say why there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sfumato.data.codebook import Missing, Variable
from sfumato.data.extended import CODES, LETTERS

__all__ = ["extended_missing", "letters_of", "with_codes"]


def with_codes(values: list[Any]) -> list[Any]:
    """Replace the letters that stand among a column's numbers by their doubles.

    Examples
    --------
    >>> with_codes([1.0, "a", None])[1] == CODES["a"]
    True
    """
    return [CODES[value.lower()] if isinstance(value, str) else value for value in values]


def extended_missing(
    labels: Mapping[Any, str], present: Collection[str], upper: bool = False
) -> tuple[dict[Any, str], tuple[Missing, ...]]:
    """Divide value labels into those of numbers and the missing codes.

    Parameters
    ----------
    labels
        Value labels; those of extended missing values have their letter as key.
    present
        Letters that occur in the column.
    upper
        Whether the letters are shown in upper case, as in SAS.

    Returns
    -------
    tuple
        Labels of numbers; a missing code for every letter that occurs or has a label, named by its label or else as
        the package shows it (`.a`).

    Examples
    --------
    >>> labels, missing = extended_missing({1: "yes", "a": "refused"}, ["b"])
    >>> labels, [m.label for m in missing]
    ({1: 'yes'}, ['refused', '.b'])
    """
    named = {str(key).lower(): text for key, text in labels.items() if isinstance(key, str)}
    letters = sorted({letter.lower() for letter in present} | named.keys(), key=lambda letter: CODES[letter])
    shown = {letter: f".{letter.upper() if upper else letter}" for letter in letters}
    missing = tuple(Missing(code=CODES[letter], label=named.get(letter, shown[letter])) for letter in letters)
    return {key: text for key, text in labels.items() if not isinstance(key, str)}, missing


def letters_of(variable: Variable) -> dict[float, str]:
    """Give the extended missing values that a variable's missing codes name: the letter of each double.

    Examples
    --------
    >>> list(letters_of(Variable(missing=[CODES["b"], -9])).values())
    ['b']
    """
    codes = (m.code for m in variable.missing if isinstance(m.code, float))
    return {code: LETTERS[code] for code in codes if code in LETTERS}
