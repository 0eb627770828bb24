"""What the report draws of a protected table, as values that a layer above draws.

Points are thinned by a fixed hash of the drawn values alone: were the hash taken of the original, the choice of points
would itself tell something about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.finding import Findings
from sfumato.data.pair import Pair
from sfumato.kernels.rows import row_hash
from sfumato.report.coefficients import is_intercept, public_names
from sfumato.report.picture import (
    MAX_POINTS,
    MIN_COUNT,
    SHADES,
    Box,
    Boxes,
    Cell,
    Coefficients,
    Distribution,
    Estimate,
    Five,
    Hidden,
    Picture,
    Points,
    RiskCurves,
    Risky,
    Scatter,
    Strata,
)

if TYPE_CHECKING:
    from sfumato.measures.measuring import Measuring
    from sfumato.measures.risk.mahalanobis import Boxes as RobustBoxes
    from sfumato.measures.risk.mahalanobis import RobustRisk
    from sfumato.measures.utility.model import ModelComparison, ModelFit
    from sfumato.measures.utility.propensity import Propensity

__all__ = [
    "Boxes",
    "Coefficients",
    "Distribution",
    "Hidden",
    "Picture",
    "RiskCurves",
    "Risky",
    "Scatter",
    "Strata",
    "draw_pictures",
]

_MAX_PAIRS = 3
_WIDTHS = tuple(i / 2 for i in range(21))
"""Widths at which the risk is drawn, as multiples of the plan's."""
_PROBS = (0.05, 0.25, 0.50, 0.75, 0.95)

Floats = NDArray[np.float64]


def draw_pictures(pair: Pair, how: Measuring | None = None, findings: Findings | None = None) -> tuple[Picture, ...]:
    """Everything the report draws of a protected table; what the figures have worked out already is shared.

    Parameters
    ----------
    pair
        Original and protected table.
    how
        Widths of the robust Mahalanobis risk and the user's model.
    findings
        What was measured, where figures themselves are drawn.

    Returns
    -------
    tuple of pictures
        The custodian's; `external()` of each says what may be published.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> before = pl.DataFrame({"ward": ["A", "A", "B"]})
    >>> draw_pictures(Pair(before, before, Codebook(), by=("ward",)))
    (Strata(by=('ward',), rows=(('ward=B', 1), ('ward=A', 2))),)
    """
    from sfumato.measures.measuring import Measuring

    how = how or Measuring()
    numeric = bool(pair.columns)
    pairs = [(i, j) for i in range(len(pair.columns)) for j in range(i + 1, len(pair.columns))]
    found: list[Picture | None] = [_scatter(pair, i, j) for i, j in pairs[:_MAX_PAIRS]]
    found.append(_hidden(findings or Findings()))
    found += _risk_pictures(pair, how) if numeric and pair.aligned else []
    found += [_distribution(pair, j) for j in range(len(pair.columns))]
    found.append(_boxes(_propensities(pair)) if numeric else None)
    comparison = _comparison(pair, how)
    found.append(_coefficients(pair, comparison) if comparison is not None else None)
    found.append(_strata(pair) if pair.by else None)
    return tuple(picture for picture in found if picture is not None)


def _hidden(findings: Findings) -> Hidden | None:
    """The h-rank as it was measured; None where it was not."""
    lines = [f for f in findings.select("h_rank") if f.at is not None and f.attack is not None and f.value is not None]
    known = {(f.attack, f.group, f.at): f for f in lines}
    at = tuple(dict.fromkeys(f.at for f in lines if f.at is not None))

    def curve(attack: str | None, group: str | None) -> tuple[float, ...]:
        return tuple(known[attack, group, t].value or 0.0 for t in at)

    attackers = tuple(dict.fromkeys(f.attack for f in lines if f.attack != "worst" and f.attack is not None))
    if not attackers:
        return None
    groups = tuple(dict.fromkeys(f.group for f in lines if f.group is not None and f.group.startswith(("dec", "wor"))))
    guess = tuple(known[attackers[0], "all", t].baseline or 0.0 for t in at)
    best = tuple((group, curve("worst", group)) for group in groups)
    return Hidden(at, tuple((name, curve(name, "all")) for name in attackers), guess, best)


def _risk_pictures(pair: Pair, how: Measuring) -> list[Picture | None]:
    """Risky records and risk over the widths, from one robust covariance."""
    from sfumato.measures.risk.mahalanobis import boxes_of

    shared = boxes_of(pair)
    if not shared.needed.size:
        return []
    risk = shared.risk(w1=how.w1, w2=how.w2)
    return [_risky(pair, risk) if len(pair.columns) > 1 else None, _curves(shared, how)]


def _propensities(pair: Pair) -> Mapping[str, Propensity]:
    """Scores by the bluntest model and by the sharpest."""
    from sfumato.measures.utility.propensity import propensity_of
    from sfumato.measures.utility.trees import u_trees_of

    return {"main effects": propensity_of(pair.tables), "trees": u_trees_of(pair.tables)}


def _comparison(pair: Pair, how: Measuring) -> ModelComparison | None:
    """The user's model, where there is one and it can be fitted."""
    if how.model is None:
        return None
    from sfumato.measures.utility.model import ModelComparison, comparison_of

    compared = comparison_of(pair.tables, how.model, how.family or "linear")
    return compared if isinstance(compared, ModelComparison) else None


def _title(pair: Pair, j: int) -> str:
    name = pair.columns[j]
    unit = pair.codebook[name].unit if name in pair.codebook else None
    return f"{name} ({unit})" if unit else name


def _whole(values: Floats) -> Floats:
    """Rows without a missing value; −0 becomes 0 so that equal points have equal bits."""
    return values[~np.isnan(values).any(axis=1)] + 0.0


def _thin(values: Floats, at_most: int = MAX_POINTS) -> Points:
    """Distinct rows of `values`, shape (n, 2): all, or those with the smallest hashes of their own values."""
    rows = _whole(values)
    hashes = row_hash(rows)
    looked_at = at_most
    while True:
        # Equal rows have equal hashes, so a first look at the smallest hashes may hold too few distinct rows.
        looked_at *= 4
        if looked_at < len(rows):
            nearest = np.argpartition(hashes, looked_at)[:looked_at]
            rows_seen, hashes_seen = rows[nearest], hashes[nearest]
        else:
            rows_seen, hashes_seen = rows, hashes
        _, first = np.unique(hashes_seen, return_index=True)
        if len(first) >= at_most or looked_at >= len(rows):
            break
    return tuple(sorted((float(x), float(y)) for x, y in rows_seen[first[:at_most]]))


def _edges(released: Floats, bins: int) -> Floats:
    """Round ends of about `bins` equal bins over the released values (never the original ones), missing left out."""
    seen = released[~np.isnan(released)]
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    if low == high:
        low, high = low - abs(low) / 2 - 0.5, high + abs(high) / 2 + 0.5
    rough = (high - low) / bins
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(nice for nice in (1.0, 2.0, 2.5, 5.0, 10.0) if nice * power >= rough * (1 - 1e-9))
    first, last = np.floor(low / step), np.ceil(high / step)
    return np.asarray(np.arange(first, last + 1) * step, dtype=np.float64)


def _inside(values: Floats, edges: Floats) -> Floats:
    """Values with those beyond the edges set to the edge."""
    return np.clip(values, edges[0], edges[-1])


def _scatter(pair: Pair, i: int, j: int) -> Scatter:
    x, z = pair.x[:, [i, j]], pair.z[:, [i, j]]
    return Scatter(_title(pair, i), _title(pair, j), after=_thin(z), before=_thin(x), cells=_cells(_whole(x), z))


def _cells(x: Floats, z: Floats) -> tuple[Cell, ...]:
    """Cells of a grid over the released points `z` that hold at least `MIN_COUNT` points of `x`."""
    bins = int(np.clip(2 * np.sqrt(len(x) / MIN_COUNT), 6, 30))
    ex, ey = _edges(z[:, 0], bins), _edges(z[:, 1], bins)
    counts, _, _ = np.histogram2d(_inside(x[:, 0], ex), _inside(x[:, 1], ey), bins=[ex, ey])
    shades = np.searchsorted(SHADES, counts / max(len(x), 1), side="right")
    return tuple(
        Cell(float(ex[a]), float(ex[a + 1]), float(ey[b]), float(ey[b + 1]), int(shades[a, b]))
        for a, b in np.argwhere(counts >= MIN_COUNT)
    )


def _risky(pair: Pair, risk: RobustRisk) -> Risky:
    """Over the first two columns."""
    x, safe = pair.x[:, :2], pair.whole & ~risk.risky1
    return Risky(
        _title(pair, 0), _title(pair, 1), safe=_thin(x[safe]), risk1=_thin(x[risk.risky1]), risk2=_thin(x[risk.risky2])
    )


def _boxes(propensities: Mapping[str, Propensity]) -> Boxes | None:
    boxes = tuple(
        Box(name, _five(scores.before), _five(scores.after))
        for name, scores in propensities.items()
        if len(scores.before) and len(scores.after)
    )
    fewest = min((min(len(s.before), len(s.after)) for s in propensities.values()), default=0)
    return Boxes(boxes, enough=fewest * _PROBS[0] >= MIN_COUNT) if boxes else None


def _five(scores: Floats) -> Five:
    a, b, c, d, e = (float(q) for q in np.quantile(scores, _PROBS))
    return a, b, c, d, e


def _coefficients(pair: Pair, comparison: ModelComparison) -> Coefficients | None:
    before, after = comparison.before, comparison.after
    ends = np.array([end for fit in (before, after) for end in (fit.estimate, fit.low, fit.high)])
    drawn = np.isfinite(ends).all(axis=0) & (before.se > 0)
    shown = [i for i, label in enumerate(comparison.labels) if not is_intercept(label) and drawn[i]]
    if not shown:
        return None

    def scaled(fit: ModelFit, i: int) -> Estimate:
        se = float(before.se[i])
        return float(fit.estimate[i]) / se, float(fit.low[i]) / se, float(fit.high[i]) / se

    return Coefficients(
        labels=tuple(comparison.labels[i] for i in shown),
        before=tuple(scaled(before, i) for i in shown),
        after=tuple(scaled(after, i) for i in shown),
        public=public_names(comparison.labels, pair.before, pair.codebook, MIN_COUNT),
    )


def _curves(shared: RobustBoxes, how: Measuring) -> RiskCurves:
    w1 = tuple(how.w1 * m for m in _WIDTHS)
    w2 = tuple(how.w2 * m for m in _WIDTHS)
    return RiskCurves(
        w1,
        risk1=tuple(float((shared.needed <= w).mean()) for w in w1),
        w2=w2,
        risk2=tuple(float(r) for r in shared.grid((), w2, w1=how.w1, w2=how.w2).risk2),
        used_w1=how.w1,
        used_w2=how.w2,
    )


def _distribution(pair: Pair, j: int) -> Distribution:
    bins = int(np.clip(2 * np.sqrt(len(pair.x) / MIN_COUNT), 6, 40))
    edges = _edges(pair.z[:, j], bins)
    before, after = (np.histogram(_inside(v[~np.isnan(v)], edges), edges)[0] for v in (pair.x[:, j], pair.z[:, j]))
    return Distribution(
        _title(pair, j),
        tuple(float(e) for e in edges),
        tuple(float(c) for c in before),
        tuple(float(c) for c in after),
    )


def _strata(pair: Pair) -> Strata:
    sizes = pair.after.group_by(pair.by).len("sfumato:size").sort("sfumato:size", *pair.by)
    rows = []
    for *values, size in sizes.iter_rows():
        rows.append((", ".join(f"{name}={value}" for name, value in zip(pair.by, values, strict=True)), int(size)))
    return Strata(pair.by, tuple(rows))
