"""Drawings: marks where the data are, words for those who cannot see, equal bytes for equal pictures."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from sfumato.render.plots import draw
from sfumato.report.picture import Boxes, Cell, Coefficients, Distribution, RiskCurves, Risky, Scatter, Strata
from tests.render import reports

CELLS = (Cell(0, 1, 0, 1, 0), Cell(1, 2, 0, 1, 0), Cell(0, 1, 1, 2, 3))
SCATTER = Scatter("x", "y", after=((0, 0), (1, 1), (2, 1)), before=((0, 1), (1, 0)), cells=CELLS)


def marks(svg: str, colour: str) -> int:
    """Marks drawn in a colour (a group's style counts for all in it)."""
    found = 0
    for element in ET.fromstring(svg).iter():
        if element.tag == "use" and f"--{colour}," in element.get("style", ""):
            found += 1
        elif element.tag == "g" and f"--{colour}," in element.get("style", ""):
            found += sum(child.tag == "use" for child in element)
    return found


def test_every_picture_is_tried():
    assert tuple(type(picture).__name__ for picture in reports.pictures()) == reports.PICTURES


@pytest.mark.parametrize("at", range(len(reports.PICTURES)), ids=reports.PICTURES)
def test_every_picture_is_drawn_in_words_and_marks(at):
    picture = reports.pictures()[at]
    panels = draw(picture, "p")
    assert bool(panels) != isinstance(picture, Strata)
    for panel in panels:
        root = ET.fromstring(panel.svg)
        assert [child.tag for child in root][:2] == ["title", "desc"]
        assert len(root[1].text) > 40
        assert root.get("role") == "img"
        assert not re.search(r"http|<style|font-family|#0000", panel.svg)
        assert len({e.get("id") for e in root.iter() if e.get("id")} - {None}) == len(
            [e for e in root.iter() if e.get("id")]
        )


def test_a_scatter_marks_every_point():
    (panel,) = draw(SCATTER, "p")
    assert (marks(panel.svg, "released"), marks(panel.svg, "original")) == (3, 2)


def test_a_public_scatter_has_shades_and_no_original_marks():
    (panel,) = draw(SCATTER.external(), "p")
    assert (marks(panel.svg, "released"), marks(panel.svg, "original")) == (3, 0)
    shades = [e for e in ET.fromstring(panel.svg).iter("path") if "fill: var(--original" in e.get("style", "")]
    assert [e.get("d").upper().count("M") for e in shades] == [2, 1]


def test_risky_panels_mark_their_own():
    picture = Risky("x", "y", safe=((0, 0), (1, 2), (3, 1)), risk1=((1, 1), (2, 2)), risk2=((2, 2),))
    one, two = draw(picture, "p")
    assert (marks(one.svg, "risky"), marks(one.svg, "original")) == (2, 3)
    assert (marks(two.svg, "risky"), marks(two.svg, "original")) == (1, 5)


def test_a_panel_for_each_model_and_for_each_width():
    boxes = next(p for p in reports.pictures() if isinstance(p, Boxes))
    assert [panel.title for panel in draw(boxes, "p")] == ["Main effects", "Trees"]
    curves = RiskCurves((0, 1, 2), (0, 0.1, 0.2), (0, 1), (0.1, 0), 1, 1)
    assert [panel.title for panel in draw(curves, "p")] == ["risk1 over w1", "risk2 over w2"]


def test_the_used_width_is_where_the_curve_says():
    """The dot and the dashed line lie at the same x, in the middle of an axis from 0 to 2."""
    panel, _ = draw(RiskCurves((0, 1, 2), (0, 0.1, 0.2), (0, 1), (0.1, 0), 1, 1), "p")
    root = ET.fromstring(panel.svg)
    dashed = next(e for e in root.iter("path") if "stroke-dasharray" in e.get("style", ""))
    x = float(re.search(r"M ([\d.]+)", dashed.get("d")).group(1))
    dots = [e for e in root.iter("use") if "--paper" in (e.get("style") or "")]
    assert [float(e.get("x")) for e in dots] == [pytest.approx(x, abs=0.02)]


def test_labels_are_words_and_not_markup():
    picture = Coefficients(("a_$b$ <c> & d",), ((0, -1, 1),), ((0.5, -1, 1),), {})
    (panel,) = draw(picture, "p")
    assert "a_$b$ <c> & d" in [e.text for e in ET.fromstring(panel.svg).iter("text")]


def test_of_very_many_coefficients_those_that_moved_most_are_drawn():
    n = 50
    still, moved = ((0.0, -1.0, 1.0),) * n, tuple((i / n, 0.0, 2.0) for i in range(n))
    (panel,) = draw(Coefficients(tuple(f"c{i}" for i in range(n)), still, moved, {}), "p")
    texts = {e.text for e in ET.fromstring(panel.svg).iter("text")}
    assert "30 that moved most" in panel.title
    assert {"c20", "c49"} <= texts
    assert "c19" not in texts


def test_histograms_of_unequal_bins_show_density():
    """10 records in a bin of width 1 stand ten times as high as 10 in a bin of width 10."""
    (panel,) = draw(Distribution("a", (0, 1, 11), (10, 10), (10, 10)), "p")
    outline = next(e for e in ET.fromstring(panel.svg).iter("path") if "stroke: var(--released" in e.get("style", ""))
    ys = sorted({float(y) for y in re.findall(r"[ML] [\d.-]+ ([\d.-]+)", outline.get("d"))})
    high, low, base = ys
    assert (base - high) / (base - low) == pytest.approx(10, rel=0.02)


def test_equal_pictures_give_equal_bytes():
    assert draw(SCATTER, "p") == draw(SCATTER, "p")
    one, two = (draw(SCATTER, name)[0].svg for name in ("p", "q"))
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_empty_pictures_are_drawn_all_the_same():
    for picture in (Scatter("x", "y", (), (), ()), Risky("x", "y", (), (), ()), Distribution("a", (0, 1), (0,), (0,))):
        assert draw(picture, "p")
