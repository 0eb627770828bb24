"""Speed of steps that replace dates, ids, points and texts, of searching texts, and of looking for links."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.entities import find
from sfumato.data.links import links_between
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.base import Method
from sfumato.release.run import run_steps

N = 10**6
HOSTILE = (
    *("1", "1 ", "a", "a.", "@", "a@", "a@a.", ":", "a:", "(0", "+1", "A1", "0 0", "-", "http://", "www.", "é"),
    *("1/", "01/01/", "AB12", "+", "07700900123 ", "1a", "x1 ", "1.1.1.", "jan ", "0123-4 ", "079 11 12 34 56;"),
)
"""Pieces of which texts are made that hold a careless pattern up."""
Work = Callable[[], object]


def step(method: Method, **columns: object) -> Work:
    """A step on a table of its columns."""
    frame = pl.DataFrame(columns)
    book = Codebook({n: Variable(kind="continuous" if frame.schema[n].is_float() else None) for n in columns})
    return lambda: run_steps([method], PolarsDataset(frame, book, ".csv"), Draws(bytes(16)))


def dates() -> Work:
    """The month of texts such as 03.04.1958."""
    from sfumato.methods.coarsen_date import CoarsenDate

    day = np.datetime64("1930-01-01") + np.random.default_rng(1).integers(0, 25_000, N).astype("timedelta64[D]")
    texts = pl.Series(day).dt.to_string("%d.%m.%Y")
    return step(CoarsenDate(columns=("born",), to="month", format="%d.%m.%Y"), born=texts)


def pseudonyms() -> Work:
    """Codes for as many ids as there are records."""
    from sfumato.methods.pseudonymise import Pseudonymise

    return step(Pseudonymise(columns=("id",)), id=np.random.default_rng(2).permutation(N))


def grid() -> Work:
    """Points to squares of a kilometre."""
    from sfumato.methods.to_grid import ToGrid

    rng = np.random.default_rng(3)
    return step(ToGrid(x="lon", y="lat", crs=4326), lon=rng.uniform(-4, 0, N), lat=rng.uniform(51, 55, N))


def polygons() -> Work:
    """Points to a hundred districts of a thousand corners."""
    import json

    from sfumato.methods.to_polygon import ToPolygon

    angle = np.linspace(0, 2 * np.pi, 1000)
    rings = (np.column_stack([i % 10 + 0.5 * np.cos(angle), 45 + i // 10 + 0.5 * np.sin(angle)]) for i in range(100))
    districts = [
        {
            "type": "Feature",
            "properties": {"name": str(i)},
            "geometry": {"type": "Polygon", "coordinates": [r.tolist()]},
        }
        for i, r in enumerate(rings)
    ]
    path = Path(tempfile.mkdtemp()) / "districts.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": districts}))
    rng = np.random.default_rng(4)
    method = ToPolygon(x="lon", y="lat", crs=4326, polygons=str(path), column="name")
    return step(method, lon=rng.uniform(0, 10, N), lat=rng.uniform(45, 55, N))


def links() -> Work:
    """Two tables with eight columns of ten values in common."""
    rng = np.random.default_rng(5)
    a, b = (pl.DataFrame({f"x{j}": rng.integers(0, 10, N) for j in range(8)}) for _ in range(2))
    return lambda: links_between(a, b)


def hostile() -> Work:
    """Texts of 100,000 characters, each made to hold a pattern up."""
    return lambda: [find((piece * 100_000)[:100_000]) for piece in HOSTILE]


CASES: dict[str, tuple[Callable[[], Work], str, float]] = {
    "dates": (dates, "months of 10^6 texts", 3),
    "pseudonyms": (pseudonyms, "codes for 10^6 different ids", 5),
    "grid": (grid, "10^6 points to squares of the national grid", 5),
    "polygons": (polygons, "10^6 points to 100 districts of 1,000 corners", 10),
    "links": (links, "links between two tables of 10^6 records with eight columns in common", 20),
    "hostile": (hostile, f"personal data in {len(HOSTILE)} texts of 10^5 characters made to hold patterns up", 30),
}


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    found = {case: cost("primary", case, repeats=1).cpu for case in CASES}
    return [(what, f"{found[c]:.1f} CPU s", f"≤ {bar:g} CPU s", found[c] <= bar) for c, (_, what, bar) in CASES.items()]


if __name__ == "__main__":
    report_cost(CASES[sys.argv[1]][0]())
