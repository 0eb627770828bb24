"""A picture as data: points, boxes, curves and histograms. Drawing is left to a layer above.

Each says by `external()` what of it may be published. The rules:

- A point of the original table is never published; its density is, in cells of at least `MIN_COUNT` records on a grid
  laid over the *released* values, and as four shade classes instead of counts.
- Which records are risky, and the list of strata, are never published: they tell an attacker where to look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sfumato.kernels.grid import significant

__all__ = [
    "MAX_POINTS",
    "MIN_COUNT",
    "SHADES",
    "Box",
    "Boxes",
    "Cell",
    "Coefficients",
    "Distribution",
    "Estimate",
    "Five",
    "Hidden",
    "Picture",
    "Points",
    "RiskCurves",
    "Risky",
    "Scatter",
    "Strata",
]

MAX_POINTS = 2_000
"""Most points of one kind in a scatter."""
MIN_COUNT = 10
"""Fewest records behind any part of a picture that is drawn from the original and published."""
SHADES = (0.01, 0.03, 0.10)
"""Shares of all records at which a density cell becomes one shade darker."""

Points = tuple[tuple[float, float], ...]
Five = tuple[float, float, float, float, float]
Estimate = tuple[float, float, float]


@dataclass(frozen=True)
class Cell:
    """One cell of a binned density: a rectangle and its shade, 0 (lightest) to 3 (darkest)."""

    left: float
    right: float
    low: float
    high: float
    shade: int


@dataclass(frozen=True)
class Scatter:
    """Two masked columns against each other, original and released (Figure 1F of the paper).

    Parameters
    ----------
    x, y
        The columns, with their units.
    after
        Distinct released points.
    before
        Distinct original points; empty in a published picture.
    cells
        Density of the original in cells of at least `MIN_COUNT` records.
    """

    x: str
    y: str
    after: Points
    before: Points
    cells: tuple[Cell, ...]

    def external(self) -> Scatter:
        """The same without any original point."""
        return replace(self, before=())


@dataclass(frozen=True)
class Risky:
    """Which records are risky, at their original values (Figure 2). For the custodian's eyes only.

    Parameters
    ----------
    x, y
        The columns, with their units.
    safe
        Points that are not risky.
    risk1
        Points whose released value lies close to the original.
    risk2
        Those of `risk1` that have no other released record near.
    """

    x: str
    y: str
    safe: Points
    risk1: Points
    risk2: Points

    def external(self) -> None:
        """Nothing of it may be published."""
        return None


@dataclass(frozen=True)
class Box:
    """Five quantiles (5, 25, 50, 75, 95%) of the propensity scores of one model, for each table.

    No score of a single record is shown, so there are no outlier points.
    """

    name: str
    before: Five
    after: Five


@dataclass(frozen=True)
class Boxes:
    """Propensity scores of original and released records (Figure 3).

    Parameters
    ----------
    boxes
        One for each model that was asked to tell the tables apart.
    enough
        Whether at least `MIN_COUNT` scores lie beyond the outer quantiles.
    """

    boxes: tuple[Box, ...]
    enough: bool

    def external(self) -> Boxes | None:
        """Rounded to 3 significant digits; nothing from a small table."""
        if not self.enough:
            return None
        return replace(self, boxes=tuple(Box(b.name, _rounded(b.before), _rounded(b.after)) for b in self.boxes))


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of the user's model with 95% intervals, original and released (Figures 4 and 6).

    Each is divided by the standard error that it has in the original fit, so that all stand on one axis, the original
    interval is ±1.96 wide everywhere, and the distance of the two points is the `standardised_difference`. The
    intercept is left out.

    Parameters
    ----------
    labels
        Names as in the findings.
    before, after
        Estimate, lower and upper end of the interval.
    public
        For every label of the model, the intercept included, the name without category labels to publish it under;
        None where the coefficient rests on fewer than `MIN_COUNT` records of a category and is not published.
    """

    labels: tuple[str, ...]
    before: tuple[Estimate, ...]
    after: tuple[Estimate, ...]
    public: Mapping[str, str | None]

    def external(self) -> Coefficients | None:
        """Public names, two decimals; what rests on few records is left out."""
        keep = [(name, i) for i, label in enumerate(self.labels) if (name := self.public.get(label)) is not None]
        if not keep:
            return None
        return Coefficients(
            labels=tuple(name for name, _ in keep),
            before=tuple(_two_decimals(self.before[i]) for _, i in keep),
            after=tuple(_two_decimals(self.after[i]) for _, i in keep),
            public={name: name for name in self.public.values() if name is not None},
        )


@dataclass(frozen=True)
class RiskCurves:
    """risk1 over w1 and risk2 over w2 (Figure 5).

    Parameters
    ----------
    w1, risk1
        Widths of the boxes and the share of records at risk at each.
    w2, risk2
        Distances to other records and the share at risk at each, at the width `used_w1`.
    used_w1, used_w2
        The widths of the findings.
    """

    w1: tuple[float, ...]
    risk1: tuple[float, ...]
    w2: tuple[float, ...]
    risk2: tuple[float, ...]
    used_w1: float
    used_w2: float

    def external(self) -> RiskCurves:
        """Rounded to 3 significant digits."""
        return replace(
            self,
            risk1=tuple(significant(r) for r in self.risk1),
            risk2=tuple(significant(r) for r in self.risk2),
        )


@dataclass(frozen=True)
class Distribution:
    """Histogram of one masked column, original and released.

    Parameters
    ----------
    column
        The column, with its unit.
    edges
        Ends of the bins, round numbers over the range of the released values; original values outside fall into the
        outermost bins.
    before, after
        Records in each bin.
    """

    column: str
    edges: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    def external(self) -> Distribution | None:
        """Neighbouring bins merged up to `MIN_COUNT` original records each, their numbers rounded to tens."""
        if sum(self.before) < MIN_COUNT:
            return None
        groups = _enough(self.before)
        return Distribution(
            column=self.column,
            edges=(self.edges[0], *(self.edges[stop] for _, stop in groups)),
            before=tuple(float(round(sum(self.before[start:stop]), -1)) for start, stop in groups),
            after=tuple(sum(self.after[start:stop]) for start, stop in groups),
        )


@dataclass(frozen=True)
class Strata:
    """The strata and their sizes, smallest first (Table 2). For the custodian's eyes only."""

    by: tuple[str, ...]
    rows: tuple[tuple[str, int], ...]

    def external(self) -> None:
        """Nothing of it may be published."""
        return None


@dataclass(frozen=True)
class Hidden:
    """How well records are hidden: P(h ≤ t) over t for each attacker, and by distance from the centre.

    Parameters
    ----------
    at
        Values of t.
    attackers
        P(h ≤ t) of each, over the whole file, by the attacker's name.
    guess
        The same of somebody who takes any record.
    groups
        P(h ≤ t) under the best of the attackers, by group: tenths from the centre outwards, then the worst records.
        Empty in a published picture: it tells where to look.
    """

    at: tuple[float, ...]
    attackers: tuple[tuple[str, tuple[float, ...]], ...]
    guess: tuple[float, ...]
    groups: tuple[tuple[str, tuple[float, ...]], ...]

    def external(self) -> Hidden:
        """The whole file only, rounded to 3 significant digits."""
        attackers = tuple((name, tuple(significant(p) for p in curve)) for name, curve in self.attackers)
        return Hidden(self.at, attackers, tuple(significant(p) for p in self.guess), ())


Picture = Scatter | Risky | Boxes | Coefficients | RiskCurves | Distribution | Strata | Hidden


def _rounded(box: Five) -> Five:
    a, b, c, d, e = (significant(q) for q in box)
    return a, b, c, d, e


def _two_decimals(estimate: Estimate) -> Estimate:
    a, b, c = (round(value, 2) for value in estimate)
    return a, b, c


def _enough(counts: Sequence[float]) -> list[tuple[int, int]]:
    """Runs of neighbouring bins, as start and stop, that hold at least `MIN_COUNT` records each."""
    runs: list[tuple[int, int]] = []
    start, total = 0, 0.0
    for stop, count in enumerate(counts, 1):
        total += count
        if total >= MIN_COUNT:
            runs.append((start, stop))
            start, total = stop, 0.0
    if start < len(counts):
        runs[-1] = (runs[-1][0], len(counts))
    return runs
