"""A year at the gate under four policies: what is given, what is kept, what could still be had.

`python -m benchmarks.year` writes the picture into `docs/gate/` and the table into the page `docs/gate/year.md`. Equal
options give equal figures but for times.
"""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.gate import ward
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of
from sfumato.gate.simulate import Quarter, simulate

POLICIES = {
    "datashield": {"interval": {"count": 2, "width": 3}},
    "research": {"interval": {"count": 4, "width": 10}},
    "acro": {"interval": {"count": 9, "width": 10}},
    "public": {"interval": {"count": 9, "width": 20}},
}
MARK = "<!-- results -->"
COLOURS = {"granted": "#0072b2", "repeated": "#56b4e9", "refused": "#d55e00", "undecided": "#8c6d00"}


def table(year: Sequence[Quarter]) -> str:
    """The figures, a line for each quarter."""
    lines = [
        "| policy | quarter | granted | repeated | refused | undecided | 2-way | 3-way | p50 | p95 | narrow |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for q in year:
        wide = " | ".join(f"{q.possible[many]:.0%}" for many in (2, 3))
        told = " | ".join(map(str, (q.quarter, q.granted, q.repeated, q.refused, q.undecided)))
        times = f"{1000 * q.p50:.1f} ms | {1000 * q.p95:.0f} ms"
        lines.append(f"| {q.policy} {_pair(q.policy)} | {told} | {wide} | {times} | {q.narrow} |")
    return "\n".join(lines)


def _pair(policy: str) -> str:
    interval = POLICIES[policy]["interval"]
    return f"({interval['count']}, {interval['width']})"


def picture(year: Sequence[Quarter]) -> str:
    """A panel for each policy: what came of each quarter's requests, and what could still be had."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style = {"svg.fonttype": "none", "svg.hashsalt": "sfumato", "font.size": 9, "axes.titlelocation": "left"}
    with matplotlib.rc_context(style | {"axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(8, 5.2), layout="constrained")
        FigureCanvasSVG(figure)
        panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for ax, name in zip(panels, POLICIES, strict=True):
            own = [q for q in year if q.policy == name]
            at, below = [q.quarter for q in own], [0.0] * len(own)
            for what, colour in COLOURS.items():
                share = [getattr(q, what) / q.requests for q in own]
                ax.bar(at, share, bottom=below, color=colour, width=0.6, label=what)
                below = [a + b for a, b in zip(below, share, strict=True)]
            for many, mark in ((2, "o-"), (3, "s--")):
                label = f"tables of {many} variables still to be had"
                ax.plot(at, [q.possible[many] for q in own], mark, color="#1b1b1b", markersize=4, lw=1.2, label=label)
            ax.set_title(f"{name} {_pair(name)}")
            ax.set_xticks(at)
            ax.set_ylim(0, 1)
            ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        for ax in panels[2:]:
            ax.set_xlabel("quarter")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    short = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}", out.getvalue())
    return "\n".join(line.rstrip() for line in short.splitlines()) + "\n"


def main() -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.year", description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000, help="patients")
    parser.add_argument("--requests", type=int, default=800, help="requests of the year, under each policy")
    parser.add_argument("--out", type=Path, default=Path("docs/gate"), help="folder to write into")
    given = parser.parse_args()
    policies = {name: Policy.model_validate(own) for name, own in POLICIES.items()}
    found = simulate(records_of(ward(given.rows)), policies, given.requests)
    year = sorted(found, key=lambda q: (list(POLICIES).index(q.policy), q.quarter))
    (given.out / "year.svg").write_text(picture(year))
    page = given.out / "year.md"
    page.write_text(f"{page.read_text().partition(MARK)[0]}{MARK}\n\n{table(year)}\n")


if __name__ == "__main__":
    main()
