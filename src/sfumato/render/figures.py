"""The figures of a picture as tables, for those who do not see it or want the numbers: original before released."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.report.picture import (
    Boxes,
    Coefficients,
    Distribution,
    Estimate,
    Hidden,
    Picture,
    Points,
    RiskCurves,
    Risky,
    Scatter,
)

__all__ = ["Figures", "figures_of"]

_BANDS = 8
_FEWEST = 5
"""Points of which a mean is told: that of fewer would be theirs."""
_SHARES = ("5%", "25%", "half", "75%", "95%")
_NONE = "–"


@dataclass(frozen=True)
class Figures:
    """A table of figures.

    Parameters
    ----------
    caption
        What they are.
    head
        What stands above each column.
    rows
        As people read them; the first of each row says of what the others are.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figures_of(picture: Picture) -> tuple[Figures, ...]:
    """A table for each panel that `sfumato.render.plots.draw` makes of a picture, in the same order.

    Points of a scatter are never listed, for each is a record: they are counted in bands of what is drawn across, with
    the mean of what is drawn upwards where a band holds at least five.

    Parameters
    ----------
    picture
        What is drawn; strata are a table already and have none.

    Examples
    --------
    >>> figures_of(Distribution("age", (0.0, 10.0, 20.0), (12.0, 11.0), (11.0, 12.0)))[0].rows
    (('0 to 10', '12', '11'), ('10 to 20', '11', '12'))
    """
    match picture:
        case Scatter():
            return (_scatter(picture),)
        case Risky():
            return tuple(_risky(picture))
        case Boxes():
            return tuple(
                Figures(
                    "So many of the scores lie below",
                    ("Share", "Original", "Released"),
                    _rows(zip(_SHARES, map(_text, box.before), map(_text, box.after), strict=True)),
                )
                for box in picture.boxes
            )
        case Coefficients():
            return (_coefficients(picture),)
        case RiskCurves():
            return (
                _curve("w1", "risk1", picture.w1, picture.risk1),
                _curve("w2", "risk2", picture.w2, picture.risk2),
            )
        case Hidden():
            return tuple(_hidden(picture))
        case Distribution():
            return (_distribution(picture),)
        case _:
            return ()


def _scatter(picture: Scatter) -> Figures:
    sides = [("original", picture.before)] if picture.before else []  # a published one has no original points
    sides.append(("released", picture.after))
    edges = _edges([points for _, points in sides])
    told = [_counted(points, edges) for _, points in sides]
    head = [f"{what}, {side}" for what in ("points", f"mean of {picture.y}") for side, _ in sides]
    rows = [
        (band, *(str(counts[i]) for counts, _ in told), *(means[i] for _, means in told))
        for i, band in enumerate(_bands(edges))
    ]
    return Figures("Of the points that are drawn, in bands", (picture.x, *head), _rows(rows))


def _risky(picture: Risky) -> Iterable[Figures]:
    edges = _edges([picture.safe, picture.risk1, picture.risk2])
    for risky, others in ((picture.risk1, picture.safe), (picture.risk2, picture.safe + picture.risk1)):
        marked, rest = (_counted(points, edges)[0] for points in (risky, others))
        rows = [(band, str(marked[i]), str(rest[i])) for i, band in enumerate(_bands(edges))]
        yield Figures("Of the points that are drawn, in bands", (picture.x, "at risk", "others"), _rows(rows))


def _edges(sides: Sequence[Points]) -> list[float]:
    """Ends of bands of equal width over what is drawn across."""
    across = [x for points in sides for x, _ in points]
    if not across:
        return []
    low, high = min(across), max(across)
    return [float(end) for end in (np.linspace(low, high, _BANDS + 1) if high > low else (low, high))]


def _counted(points: Points, edges: Sequence[float]) -> tuple[list[int], list[str]]:
    """In each band how many points, and the mean of what is drawn upwards."""
    bands: list[list[float]] = [[] for _ in edges[1:]]
    for x, y in points:
        at = int(np.searchsorted(edges, x, side="right")) - 1
        bands[min(max(at, 0), len(bands) - 1)].append(y)
    return (
        [len(band) for band in bands],
        [_text(sum(band) / len(band)) if len(band) >= _FEWEST else _NONE for band in bands],
    )


def _coefficients(picture: Coefficients) -> Figures:
    def interval(estimate: Estimate) -> str:
        return f"{_text(estimate[1])} to {_text(estimate[2])}"

    rows = [
        (label, _text(before[0]), interval(before), _text(after[0]), interval(after))
        for label, before, after in zip(picture.labels, picture.before, picture.after, strict=True)
    ]
    head = ("Coefficient", "Original", "95% interval", "Released", "95% interval")
    return Figures("In standard errors of the original fit", head, _rows(rows))


def _curve(width: str, measure: str, ws: Sequence[float], risks: Sequence[float]) -> Figures:
    rows = [(_text(w), f"{risk:.1%}") for w, risk in zip(ws, risks, strict=True)]
    return Figures(f"Share of records at risk by {measure}", (width, "Share"), _rows(rows))


def _hidden(picture: Hidden) -> Iterable[Figures]:
    curves = [*picture.attackers, ("any record at random", picture.guess)]
    rows = [(_text(t), *(f"{curve[i]:.1%}" for _, curve in curves)) for i, t in enumerate(picture.at)]
    yield Figures("Share of people with h at most t", ("t", *(name for name, _ in curves)), _rows(rows))
    if picture.groups:
        at = (0, len(picture.at) // 2)
        head = ("From the centre outwards", *(f"h at most {_text(picture.at[i])}" for i in at))
        far = [(name, *(f"{curve[i]:.1%}" for i in at)) for name, curve in picture.groups]
        yield Figures("Share of people, under the best attacker", head, _rows(far))


def _distribution(picture: Distribution) -> Figures:
    counts = zip(_bands(picture.edges), picture.before, picture.after, strict=True)
    rows = [(band, f"{before:,.0f}", f"{after:,.0f}") for band, before, after in counts]
    return Figures("Records in each bar", (picture.column, "Original", "Released"), _rows(rows))


def _bands(edges: Sequence[float]) -> list[str]:
    return [f"{_text(low)} to {_text(high)}" for low, high in pairwise(edges)]


def _rows(rows: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(row) for row in rows)


def _text(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
