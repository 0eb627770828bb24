"""Generalisation hierarchies: broader and broader categories of each value, with one for everything (`*`) on top."""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from sfumato.data.codebook import Scalar, Variable
from sfumato.data.error_model import Bounds
from sfumato.errors import DataError
from sfumato.kernels.strata import Ladder

__all__ = ["EVERYTHING", "Hierarchy", "as_texts", "category_ladder", "text_of"]

EVERYTHING = "*"
"""The category of everything, on top of every hierarchy."""
_EVERYTHING = "everything"
_DEEPEST = 100


def text_of(value: object) -> str:
    """A value as hierarchies write it: whole numbers without a point, truth values in small letters.

    Examples
    --------
    >>> text_of(39.0), text_of(1.5), text_of(True), text_of("A1")
    ('39', '1.5', 'true', 'A1')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def as_texts(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The same for a column; null and NaN are null.

    Examples
    --------
    >>> ages = pl.DataFrame({"age": [39.0, 1.5, None]})
    >>> ages.select(as_texts(pl.col("age"), ages.schema["age"])).to_series().to_list()
    ['39', '1.5', None]
    """
    if not dtype.is_float():
        return column.cast(pl.String)
    value = column.fill_nan(None)
    whole = (value == value.round()) & (value.abs() < 2**53)
    return pl.when(whole).then(value.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(value.cast(pl.String))


@dataclass(frozen=True)
class Hierarchy:
    """Broader and broader categories of each value of a variable.

    Level 0 is the value itself, the last level is `*`. Branches may be of different depth: a value without a broader
    category on a level keeps what it has below, up to `*`.

    Parameters
    ----------
    paths : tuple of tuple of str
        Of each value: itself, then its broader categories from narrow to broad, without `*`.

    Raises
    ------
    DataError
        Where there is no value, a value stands twice, a category is empty, or one lies under two broader ones.

    Examples
    --------
    >>> town = Hierarchy((("Leeds", "North"), ("York", "North"), ("Bath", "South")))
    >>> town.height, town.level(1)["York"], town.level(2)["York"]
    (2, 'North', '*')
    """

    paths: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.paths:
            raise DataError("A hierarchy lists no value. Give each value of the variable a line.")
        if any(not path or not all(label.strip() for label in path) for path in self.paths):
            raise DataError("A hierarchy has an empty category. Every value and every broader category has a name.")
        if any(EVERYTHING in path for path in self.paths):
            raise DataError("A hierarchy has the category * among others. It stands for all and is always on top.")
        if len(set(self.leaves)) < len(self.paths):
            raise DataError("A hierarchy lists a value twice. Give each value one line.")
        for level in range(1, self.height):
            below, above = self.level(level), self.level(level + 1)
            parents: dict[str, str] = {}
            if any(parents.setdefault(below[leaf], above[leaf]) != above[leaf] for leaf in self.leaves):
                raise DataError(
                    f"A category on level {level} of a hierarchy lies under two broader ones. Give it one, or another "
                    "name where two are meant."
                )

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values."""
        return tuple(path[0] for path in self.paths)

    @cached_property
    def height(self) -> int:
        """Number of the top level, `*`."""
        return max(map(len, self.paths))

    def level(self, number: int) -> dict[str, str]:
        """The category of each value on a level, 0 to `height`.

        Raises
        ------
        DataError
            For another level.
        """
        if not 0 <= number <= self.height:
            raise DataError(f"A hierarchy has levels 0 to {self.height}; {number} is none.")
        if number == self.height:
            return dict.fromkeys(self.leaves, EVERYTHING)
        return {path[0]: path[min(number, len(path) - 1)] for path in self.paths}

    def above(self, number: int) -> Hierarchy | None:
        """What is left of the hierarchy for values that were recoded to a level; None from the last but one on.

        Examples
        --------
        >>> Hierarchy((("a", "x", "z"), ("b", "y", "z"))).above(1).paths
        (('x', 'z'), ('y', 'z'))
        """
        if number >= self.height - 1:
            return None
        kept = dict.fromkeys(path[min(number, len(path) - 1) :] for path in self.paths)
        return Hierarchy(tuple(kept))

    def bands(self, number: int, whole: bool = False) -> dict[str, Bounds]:
        """What each category on a level stands for where values are numbers and categories are intervals of these.

        Parameters
        ----------
        number
            The level.
        whole
            Whether values are whole numbers: a category then ends one above its largest.

        Returns
        -------
        dict
            By category low end and high end (which is in the next); empty where values are no numbers, categories
            overlap, or there is one only.

        Examples
        --------
        >>> Hierarchy((("1", "1-2"), ("2", "1-2"), ("3", "3-9"), ("9", "3-9"))).bands(1, whole=True)
        {'1-2': (1.0, 3.0), '3-9': (3.0, 10.0)}
        """
        try:
            values = sorted((float(leaf), label) for leaf, label in self.level(number).items())
        except ValueError:
            return {}
        runs = [(label, [x for x, _ in run]) for label, run in itertools.groupby(values, key=lambda pair: pair[1])]
        if len(runs) < 2 or len({label for label, _ in runs}) < len(runs) or not math.isfinite(values[-1][0]):
            return {}
        ends = [held[0] for _, held in runs[1:]]
        last = runs[-1][1][-1] + 1.0 if whole else None
        return {
            label: (held[0], high)
            for (label, held), high in zip(runs, [*ends, last], strict=True)
            if high is None or held[0] < high
        }

    @classmethod
    def of(cls, variable: Variable) -> Hierarchy | None:
        """The hierarchy of a variable; None where it has none."""
        if not variable.hierarchy:
            return None
        return cls.mapping({leaf: tuple(above) for leaf, above in variable.hierarchy.items()})

    def to_variable(self) -> dict[Scalar, tuple[Scalar, ...]]:
        """The form of `Variable.hierarchy`."""
        return {path[0]: tuple(path[1:]) for path in self.paths}

    @classmethod
    def mapping(cls, broader: Mapping[Scalar, Sequence[Scalar]]) -> Hierarchy:
        """From the broader categories of each value; a last one of `*` is dropped.

        Examples
        --------
        >>> Hierarchy.mapping({"Leeds": ["North", "*"], "Bath": ["South", "*"]}).height
        2
        """
        return cls(tuple(_path((leaf, *above)) for leaf, above in broader.items()))

    @classmethod
    def parents(cls, above: Mapping[str, str | None]) -> Hierarchy:
        """From the parent of each category, None on top; one that is nobody's parent is a value.

        Raises
        ------
        DataError
            A parent that is not listed, or a circle.

        Examples
        --------
        >>> Hierarchy.parents({"North": None, "Leeds": "North", "Bath": None}).paths
        (('Leeds', 'North'), ('Bath',))
        """
        held = {parent for parent in above.values() if parent is not None}
        if not held <= set(above):
            raise DataError("A hierarchy has a parent that is not listed.")
        paths = tuple(_climbed(code, above) for code in above if code not in held)
        if len({code for path in paths for code in path}) < len(above):
            raise DataError("Categories of a hierarchy lie under each other in a circle.")
        return cls(paths)

    @classmethod
    def intervals(cls, low: int, high: int, widths: Sequence[int], start: int = 0) -> Hierarchy:
        """Whole numbers from `low` to `high` in wider and wider intervals, which begin at multiples from `start` on.

        Parameters
        ----------
        low, high
            First and last number.
        widths
            Width of the intervals on each level, each a multiple of the one before.
        start
            Where an interval begins.

        Raises
        ------
        DataError
            Where there is no number, or a width does not divide the next.

        Examples
        --------
        >>> Hierarchy.intervals(18, 21, [2, 4]).paths[0]
        ('18', '18-19', '16-19')
        """
        rising = all(b % a == 0 and b > a for a, b in itertools.pairwise(widths))
        if low > high or not widths or widths[0] < 2 or not rising:
            raise DataError("Intervals take low ≤ high and widths from 2 on, each a multiple of the one before.")

        def named(x: int, width: int) -> str:
            first = start + (x - start) // width * width
            return f"{first}-{first + width - 1}"

        return cls(tuple((str(x), *(named(x, width) for width in widths)) for x in range(low, high + 1)))

    @classmethod
    def dates(cls, days: Iterable[datetime.date]) -> Hierarchy:
        """Days by month, quarter, year and decade.

        Examples
        --------
        >>> Hierarchy.dates([datetime.date(1958, 3, 4)]).paths
        (('1958-03-04', '1958-03', '1958-Q1', '1958', '1950s'),)
        """
        return cls(tuple(dict.fromkeys(_of_day(day) for day in sorted(days))))

    @classmethod
    def prefixes(cls, codes: Iterable[str], lengths: Sequence[int]) -> Hierarchy:
        """Codes by their first characters, such as occupations and diagnoses.

        Parameters
        ----------
        codes
            The values.
        lengths
            How many characters are kept on each level, falling.

        Raises
        ------
        DataError
            Where lengths do not fall, or are below 1.

        Examples
        --------
        >>> Hierarchy.prefixes(["2211", "2212"], [3, 1]).paths[0]
        ('2211', '221', '2')
        """
        if not lengths or lengths[-1] < 1 or any(b >= a for a, b in itertools.pairwise(lengths)):
            raise DataError("Prefixes take falling lengths from 1 on: [3, 2, 1].")
        return cls(tuple((code, *(code[:length] for length in lengths)) for code in dict.fromkeys(codes)))

    @classmethod
    def ordered(cls, values: Sequence[str], sizes: Sequence[int]) -> Hierarchy:
        """Values in their order, so many neighbours together on each level.

        Parameters
        ----------
        values
            From lowest to highest.
        sizes
            How many values a group holds on each level, each a multiple of the one before.

        Raises
        ------
        DataError
            Where a size does not divide the next.

        Examples
        --------
        >>> Hierarchy.ordered(["none", "some", "most", "all"], [2]).level(1)["most"]
        'most to all'
        """
        if not sizes or sizes[0] < 2 or any(b % a or b <= a for a, b in itertools.pairwise(sizes)):
            raise DataError("Ordered groups take sizes from 2 on, each a multiple of the one before.")

        def named(i: int, size: int) -> str:
            group = values[i // size * size : (i // size + 1) * size]
            return group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}"

        return cls(tuple((v, *(named(i, size) for size in sizes)) for i, v in enumerate(values)))


def _path(labels: Iterable[object]) -> tuple[str, ...]:
    texts = tuple(text_of(label) for label in labels)
    return texts[:-1] if len(texts) > 1 and texts[-1] == EVERYTHING else texts


def _climbed(code: str, above: Mapping[str, str | None]) -> tuple[str, ...]:
    path, parent = [code], above[code]
    while parent is not None:
        if len(path) > _DEEPEST:
            raise DataError(f"Categories of a hierarchy lie under each other in a circle, or {_DEEPEST} levels deep.")
        path.append(parent)
        parent = above[parent]
    return tuple(path)


def _of_day(day: datetime.date) -> tuple[str, ...]:
    year = str(day.year)
    return day.isoformat()[:10], f"{year}-{day:%m}", f"{year}-Q{(day.month + 2) // 3}", year, f"{day.year // 10}0s"


def category_ladder(variable: Variable, categories: Sequence[Scalar | None]) -> Ladder:
    """Tell how far apart categories are, 0 to 1.

    With a hierarchy the distance of two is the lowest level at which both have the same broader category, as a share of
    its height; without one, or for categories that it does not list, it is 1 for any two that differ.

    Parameters
    ----------
    variable
        The variable that all are categories of.
    categories
        One for each stratum; None is missing.

    Examples
    --------
    >>> city = Variable(hierarchy={"Leeds": ("North",), "York": ("North",), "Bath": ("South",)})
    >>> ladder = category_ladder(city, ["Leeds", "Bath"])
    >>> ladder.far
    (0.0, 0.5, 1.0)
    >>> ladder.names
    (('Leeds', 'North', 'everything'), ('Bath', 'South', 'everything'))
    """
    height = max((len(above) for above in variable.hierarchy.values()), default=0) + 1
    names: dict[Scalar | None, tuple[Hashable, ...]] = {}
    for one in categories:
        if one not in names:
            above = () if one is None else variable.hierarchy.get(one, ())
            alone = [object() for _ in range(height - 1 - len(above))]
            names[one] = (one, *above, *alone, _EVERYTHING)
    return Ladder(tuple(names[one] for one in categories), tuple(level / height for level in range(height + 1)))
