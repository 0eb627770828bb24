"""What a synthetic release supports: a grade for a variable, a pair of variables, or a term of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

__all__ = ["GRADES", "Grade", "Support", "What", "counted"]

Grade = Literal["supported", "rough", "lost"]
What = Literal["variable", "pair", "term"]
GRADES: tuple[Grade, ...] = get_args(Grade)
"""Grades, the best first."""


@dataclass(frozen=True, slots=True)
class Support:
    """One grade: how far what is found in the copies would be found in the data.

    Parameters
    ----------
    what
        What is graded.
    columns
        The columns that it is of; none for an intercept.
    grade
        `supported`: as in the data but for chance; `rough`: near; `lost`: not to be concluded from the copies.
    term
        Of a term its name, such as `C(sex)[T.m]`.
    named
        Whether the release holds all categories that the name of a term has, so that it tells none that is not out.

    Examples
    --------
    >>> Support("pair", ("sex", "age"), "rough").to_plain()
    {'what': 'pair', 'columns': ['sex', 'age'], 'term': None, 'grade': 'rough'}
    """

    what: What
    columns: tuple[str, ...]
    grade: Grade
    term: str | None = None
    named: bool = True

    @property
    def text(self) -> str:
        """What it is called on a screen.

        Examples
        --------
        >>> Support("pair", ("sex", "age"), "rough").text
        'sex × age'
        """
        return " × ".join(self.columns) if self.term is None else self.term

    def to_plain(self) -> dict[str, Any]:
        """The four fixed keys of the JSON form."""
        return {"what": self.what, "columns": list(self.columns), "term": self.term, "grade": self.grade}


def counted(supports: Iterable[Support]) -> dict[Grade, int]:
    """How many of each grade there are.

    Examples
    --------
    >>> counted([Support("variable", ("sex",), "lost")])
    {'supported': 0, 'rough': 0, 'lost': 1}
    """
    many = Counter(one.grade for one in supports)
    return {grade: many[grade] for grade in GRADES}
