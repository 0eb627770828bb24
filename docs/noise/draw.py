"""Draw the pictures of docs/noise.md: `.venv/bin/python docs/noise/draw.py`.

Everything is computed with fixed seeds from invented children, so that equal code gives equal pictures.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

import sfumato as sf
from sfumato.data.error_model import Growth
from sfumato.measures.risk.h_rank.h_rank import HRank
from sfumato.render import svg
from sfumato.render.frontier import frontier_picture

HERE = Path(__file__).parent
INK, GREY, BLUE, ORANGE = "#23272b", "#8a9097", "#0a6aa1", "#c2410c"
REPLICATIONS = 10
STRENGTHS = (0.05, 0.1, 0.2, 0.5)
FRONTIER = {"parameter": "steps.0.share", "range": (0.01, 0.5), "limit": "h_rank[h<3] < 0.1"}
VARIABLES = {
    "id": {"role": "record"},
    "fev1": {"role": "outcome", "kind": "continuous"},
    "bmi": {"role": "key", "kind": "continuous"},
    "sex": {"role": "key", "kind": "categorical"},
    "smoke": {"role": "key", "kind": "categorical"},
}


def main() -> None:
    """Write all of them."""
    children = sf.examples.asthma_c().drop("id")
    pictures = {"h": distribution, "distance": by_distance}
    for name, draw in pictures.items():
        with svg.settings():
            figure = Figure(figsize=(6.4, 3.6), layout="constrained")
            FigureCanvasSVG(figure)
            draw(figure.subplots(), children)
            _plain(figure.axes[0])
            path = HERE / f"{name}.svg"
            figure.savefig(path, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    (HERE / "frontier.svg").write_bytes(frontier())


def disclosed(binary: float, grows: bool = False) -> sf.Disclosure:
    """Noise as the paper adds it to data set C: on 0/1 columns with a variance of `binary`, clipped."""
    growth = {"fev1": Growth(centre=1.69, scale=0.254, beyond=2), "bmi": Growth(centre=16.7, scale=2.17, beyond=2)}
    variance = {"fev1": 0.0069, "bmi": 0.58}
    amounts = [sf.Additive((n,), [[v]], grows={n: growth[n]} if grows else {}) for n, v in variance.items()]
    return sf.Disclosure([*amounts, *(sf.Additive((n,), [[binary]], clipped=True) for n in ("sex", "smoke"))])


def attacked(children: pl.DataFrame, disclosure: sf.Disclosure, attack: str, cap: int = 10) -> HRank:
    """The attack of the risk command, on simulated releases."""
    return sf.h_rank(
        children, disclosure=disclosure, attack=attack, metric="scaled", cap=cap, replications=REPLICATIONS
    )


def distribution(axes: Axes, children: pl.DataFrame) -> None:
    """P(h ≤ t) over t, for the four strengths and two attackers."""
    steps = range(51)
    for strength, colour in zip(STRENGTHS, ("#7fb2d0", "#3f8cb8", "#0a6aa1", "#053a59"), strict=True):
        for attack, dashes in (("nearest", "-"), ("predicted", "--")):
            found = attacked(children, disclosed(strength), attack, 50)
            name = f"variance {strength:g}" if attack == "nearest" else None
            axes.plot(steps, [found.probability(t) for t in steps], color=colour, ls=dashes, lw=1.4, label=name)
    axes.plot(steps, [found.baseline(t) for t in steps], color=GREY, lw=1.2, label="any record at random")
    axes.plot([], [], color=INK, ls="--", lw=1.2, label="attacker predicted (dashed)")
    axes.set(xlabel="t", ylabel="share of children with h ≤ t", xlim=(0, 50), ylim=(0, None))
    axes.legend(frameon=False, labelcolor=INK, fontsize=8.5)


def by_distance(axes: Axes, children: pl.DataFrame) -> None:
    """P(h ≤ 2) by tenths of the distance from the centre, with and without noise that grows."""
    for grows, colour, name in ((False, ORANGE, "noise as it is"), (True, BLUE, "noise that grows (grow: 2)")):
        found = attacked(children, disclosed(0.2, grows), "predicted")
        tenths = [g for g in found.groups if g.startswith("decile")]
        at = [int(g.removeprefix("decile ")) for g in tenths]
        axes.plot(at, [found.probability(2, g) for g in tenths], "o-", color=colour, lw=1.4, ms=4, label=name)
        axes.plot([11], [found.probability(2, "worst")], "D", color=colour, ms=6)
    axes.set(xlabel="tenth by distance from the centre", ylabel="share of children with h ≤ 2", ylim=(0, None))
    axes.set_xticks([*range(1, 11), 11], [*map(str, range(1, 11)), "worst 1%"])
    axes.legend(frameon=False, labelcolor=INK, fontsize=8.5, loc="upper left")


def frontier() -> bytes:
    """What `sfumato tune --picture` draws, with more values."""
    step = sf.steps.Noise(
        columns=["fev1", "bmi", "sex", "smoke"], share=0.1, variance={"sex": 0.2, "smoke": 0.2}, preset="avraam2018"
    )
    plan = sf.Plan(title="Lung function at eight", variables=VARIABLES, steps=[step])
    found = sf.tune(plan, sf.examples.asthma_c(), **FRONTIER, model="fev1 ~ bmi + sex + smoke", replications=3, grid=7)
    return frontier_picture(found, "svg")


def _plain(axes: Axes) -> None:
    """Ink for paper, since this file stands alone."""
    axes.figure.patch.set_facecolor("white")
    axes.set_facecolor("white")
    for text in (axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels(), *axes.get_yticklabels()):
        text.set_color(INK)
    for spine in axes.spines.values():
        spine.set_color(GREY)
    axes.tick_params(color=GREY)


if __name__ == "__main__":
    main()
