"""The sensitivity study of deterministic anonymisation: what k and the size of the table do to utility and risk.

Figures 7 and 8 of Avraam, Jones and Burton (2021), doi:10.21203/rs.3.rs-344334/v1, redone on invented data like theirs,
which are not public. `python -m benchmarks.sensitivity` writes the pictures and the tables into `docs/sensitivity/`,
and the tables into the page `docs/sensitivity.md` too. Equal options give equal figures, whatever the number of
processes.
"""

from __future__ import annotations

import argparse
import io
import math
import multiprocessing
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.draws import PUBLIC
from sfumato.engines.polars import PolarsDataset
from sfumato.examples import ncds_like
from sfumato.examples.ncds import COLUMNS
from sfumato.measures.risk.linkage import linkage_nearest
from sfumato.measures.risk.mahalanobis import robust_risk
from sfumato.measures.utility.delta import delta
from sfumato.measures.utility.model import compare_models
from sfumato.measures.utility.propensity import propensity
from sfumato.methods.centroids.method import Centroids
from sfumato.release.run import run_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BY", "BY_K", "BY_N", "MEASURES", "Study", "release_of", "run"]

BY = ("sex", "smoker")
MODEL = "glucose ~ sex + smoker + hdl + height + weight"
COEFFICIENTS = ("Intercept", "sex", "smoker", "hdl", "height", "weight")
RISKS = ("risk1", "risk2")
MEASURES = (
    "U",
    *(f"delta {name}" for name in COLUMNS),
    *(f"difference {name}" for name in COEFFICIENTS),
    *RISKS,
    "linkage",
)
"""What is measured of each release, in the order of the last axis of `run`."""

BOOK = Codebook(
    {"id": Variable(role="record")}
    | {name: Variable(kind="categorical", role="key") for name in BY}
    | {name: Variable(kind="continuous", role="key") for name in COLUMNS}
)
MARK = "<!-- results -->"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Study:
    """One of the two studies.

    Parameters
    ----------
    name
        The parameter that varies: `k` or `n`.
    settings
        (n, k) of each point.
    title
        What stands above its table.
    """

    name: str
    settings: tuple[tuple[int, int], ...]
    title: str

    @property
    def values(self) -> list[int]:
        """The parameter at each point."""
        return [k if self.name == "k" else n for n, k in self.settings]


BY_K = Study("k", tuple((500, k) for k in (3, 5, 7, 10, 15, 20, 25, 30, 35, 40, 46)), "By k, for n = 500 (Figure 7)")
BY_N = Study(
    "n", tuple((n, 5) for n in (50, 100, 200, 500, 1000, 1500, 2000, 2500, 3000)), "By n, for k = 5 (Figure 8)"
)


COHORT = (1211, 3)
"""n and k of the paper's own application to the cohort."""
PUBLISHED = dict(
    zip(
        MEASURES,
        (0.00005, 0.0466, 0.0229, 0.0296, 0.0247, 1.048, 0.959, 0.212, 0.278, 1.10, 0.606, 0.0140, 0.0099),
        strict=False,  # nothing was published of linkage
    )
)
"""What the paper gives for the cohort itself (its page on the 1958 study, and Table 4)."""


def release_of(n: int, k: int, seed: int, *, grouping: Literal["knn", "mdav"] = "knn") -> Pair:
    """Draw a table and protect it as the paper does: `min_stratum` is k, so that a stratum of k is let through."""
    before = ncds_like(n, seed)
    step = Centroids(columns=COLUMNS, by=BY, k=k, grouping=grouping, preset="avraam2021")
    after = run_steps([step], PolarsDataset(before, BOOK), PUBLIC).after.frame
    return Pair(before, after, BOOK, COLUMNS, BY, aligned=True, record="id")


def measure(n: int, k: int, seed: int) -> list[float]:
    """Every one of `MEASURES` of one release."""
    pair = release_of(n, k, seed)
    moved = compare_models(pair.before, pair.after, BOOK, MODEL, "linear")
    risk = robust_risk(pair.x, pair.z, w1=0.01, w2=0.05)
    found = [
        propensity(pair.before, pair.after, BOOK).u,
        *(delta(pair.x[:, j], pair.z[:, j]) for j in range(len(COLUMNS))),
        *(moved.standardised_difference[_position(moved.labels, name)] for name in COEFFICIENTS),
        risk.risk1,
        risk.risk2,
        linkage_nearest(pair.x, pair.z, pair.stratum),
    ]
    return [math.nan if value is None else float(value) for value in found]


def _position(labels: Sequence[str], name: str) -> int:
    """Where a variable's coefficient stands: `sex` is in the model as `sex[T.male]` or the like."""
    (found,) = (i for i, label in enumerate(labels) if label.partition("[")[0] == name)
    return found


def run(settings: Sequence[tuple[int, int]], datasets: int, processes: int = 1) -> Floats:
    """Measure releases of `datasets` tables at each setting; tables of one size are the same for every k.

    Returns
    -------
    ndarray, shape (len(settings), datasets, len(MEASURES))
    """
    jobs = [(n, k, seed) for (n, k), seed in product(settings, range(1, datasets + 1))]
    if processes == 1:
        found = [measure(*job) for job in jobs]
    else:
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            found = pool.starmap(measure, jobs, chunksize=10)
    return np.array(found).reshape(len(settings), datasets, len(MEASURES))


# -- writing --------------------------------------------------------------------------------------------------------


def table(study: Study, found: Floats) -> str:
    """Means over the data sets, with standard deviations in brackets, as a Markdown table: a line for each measure."""
    lines = [f"### {study.title}", "", _row([study.name, *map(str, study.values)]), _row(["---"] * (len(found) + 1))]
    for j, name in enumerate(MEASURES):
        lines.append(_row([_named(name), *(_cell(SCALE.get(name, 1) * here[:, j]) for here in found)]))
    return "\n".join(lines)


def cohort_table(found: Floats) -> str:
    """What the paper gives for the cohort itself beside the same measures of invented tables of that size."""
    n, k = COHORT
    lines = [f"### The cohort itself, n = {n}, k = {k}", "", _row(["", "published", "invented"]), _row(["---"] * 3)]
    for j, name in enumerate(MEASURES):
        scale = SCALE.get(name, 1)
        published = f"{scale * PUBLISHED[name]:g}" if name in PUBLISHED else "not given"
        lines.append(_row([_named(name), published, _cell(scale * found[0, :, j])]))
    return "\n".join(lines)


SCALE = {"U": 1000}


def _named(measure: str) -> str:
    return f"{SCALE[measure]} {measure}" if measure in SCALE else measure


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(values: Floats) -> str:
    return f"{_short(float(values.mean()), 3)} ({_short(float(_sd(values)), 2)})"


def _sd(values: Floats) -> Floats:
    """Standard deviation over the data sets, the last axis; 0 where there is one."""
    return np.asarray(values.std(axis=-1, ddof=1) if values.shape[-1] > 1 else np.zeros(values.shape[:-1]))


def _short(value: float, digits: int) -> str:
    """So many significant digits, without an exponent."""
    if value == 0:
        return "0"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9")
STYLES = ("o-", "s--", "^-.", "D:", "v-", "P--")


def picture(study: Study, found: Floats) -> str:
    """Panels A to D as in the paper, and E with the linkage that the paper did not look at: mean ± sd, as SVG."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "sfumato",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlelocation": "left",
        }
    ):
        figure = Figure(figsize=(8, 9), layout="constrained")
        FigureCanvasSVG(figure)
        _panels(study, found, figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    short = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}", out.getvalue())
    return "\n".join(line.rstrip() for line in short.splitlines()) + "\n"


def _panels(study: Study, found: Floats, figure: Figure) -> None:
    axes = figure.subplot_mosaic([["A", "B"], ["C", "D"], ["E", "E"]], height_ratios=[1, 1, 0.8])
    shown = {
        "A": ("Propensity utility loss U", ["U"]),
        "B": ("Delta of each variable", [f"delta {name}" for name in COLUMNS]),
        "C": ("Standardised difference of coefficients", [f"difference {name}" for name in COEFFICIENTS]),
        "D": ("Robust Mahalanobis risk", list(RISKS)),
        "E": ("Nearest-record linkage within the stratum (not in the paper)", ["linkage"]),
    }
    for letter, (title, names) in shown.items():
        ax = axes[letter]
        for i, name in enumerate(names):
            _line(
                ax, study, found[:, :, MEASURES.index(name)], i, name.removeprefix("delta ").removeprefix("difference ")
            )
        ax.set_title(f"{letter}  {title}")
        ax.set_ylim(bottom=0)
        _name_axis(ax, study)
        if len(names) > 1:
            ax.legend(frameon=False, fontsize=8, ncols=2 if len(names) > 2 else 1)
    axes["E"].plot(study.values, [1 / k for _, k in study.settings], color="#777777", lw=1, label="1/k")
    axes["E"].legend(frameon=False, fontsize=8)


def _name_axis(ax: Axes, study: Study) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

    ax.set_xlabel(study.name)
    if study.name == "n":  # most happens below 500
        ax.set_xlabel("n (log scale)")
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator([50, 100, 200, 500, 1000, 3000]))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_locator(NullLocator())


def _line(ax: Axes, study: Study, values: Floats, i: int, label: str) -> None:
    """Mean ± sd at each point; lines of one panel are set apart a little so that no bar hides another."""
    x = np.array(study.values) * 1.025**i if study.name == "n" else np.array(study.values) + 0.15 * i
    style: dict[str, Any] = {"color": COLOURS[i], "markersize": 3, "linewidth": 1.1, "elinewidth": 0.7, "capsize": 1.5}
    ax.errorbar(x, values.mean(axis=1), yerr=_sd(values), fmt=STYLES[i], label=label, **style)


def write(out: Path, found: dict[str, Floats], datasets: int) -> None:
    """Write pictures and tables into `out`, and the tables into the page beside it if there is one."""
    out.mkdir(parents=True, exist_ok=True)
    parts = [f"Means over {datasets} data sets, with standard deviations in brackets."]
    for study in (BY_K, BY_N):
        (out / f"by-{study.name}.svg").write_text(picture(study, found[study.name]))
        parts.append(table(study, found[study.name]))
    text = "\n\n".join([*parts, cohort_table(found["cohort"])]) + "\n"
    (out / "table.md").write_text(f"# Figures of the sensitivity study\n\n{text}")
    page = out.with_suffix(".md")
    if page.exists() and MARK in (prose := page.read_text()):
        page.write_text(f"{prose.partition(MARK)[0]}{MARK}\n\n{text}")


def main() -> None:
    """Run both studies and write what came of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sensitivity", description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", type=int, default=100, help="tables at each point")
    parser.add_argument("--out", type=Path, default=Path("docs/sensitivity"), help="folder to write into")
    parser.add_argument("--processes", type=int, default=min(os.cpu_count() or 1, 8))
    given = parser.parse_args()
    if given.datasets < 1 or given.processes < 1:
        parser.error("--datasets and --processes must be at least 1")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):  # the processes share the machine
        os.environ.setdefault(name, "1")
    settings = {BY_K.name: BY_K.settings, BY_N.name: BY_N.settings, "cohort": (COHORT,)}
    found = {name: run(points, given.datasets, given.processes) for name, points in settings.items()}
    write(given.out, found, given.datasets)


if __name__ == "__main__":
    main()
