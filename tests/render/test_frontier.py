"""What tuning found, drawn and told."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from sfumato.plan.conditions import parse_condition
from sfumato.plan.plan import Plan
from sfumato.render.frontier import frontier_page, frontier_picture, show_tuned
from sfumato.tuning.averaging import Averaged, Point
from sfumato.tuning.tune import Tuned
from tests.render.test_html import Page

LIMITS = (parse_condition("linkage_nearest[group=overall] < 0.2"), parse_condition("k_anonymity >= 5"))


def point(value, risk, lost, held=True):
    figures = (None if risk is None else Averaged(risk, risk - 0.02, risk + 0.02), Averaged(9.0, 9.0, 9.0))
    return Point(value, (held, True), figures, 0, {"delta[variable=<bmi>]": lost, "u_main": 0.01}, 4, 0.75)


PATH = (point(0.1, 0.4, 0.1, False), point(0.2, 0.19, 0.2), point(0.4, 0.1, 0.4), point(0.8, None, None, False))


def tuned(met=True, path=PATH):
    value = 0.2 if met else 0.8
    notes = () if met else ("Take a smaller `k`.",)
    return Tuned("steps.0.share", value, met, path, LIMITS, Plan(title="Ward <7>"), notes)


def test_a_page_is_whole_and_closed():
    text = frontier_page(tuned()).decode()
    page = Page(text)
    assert "Ward <7>" in page.text
    assert "delta[variable=<bmi>]" in page.text
    assert (
        "steps.0.share = 0.2 is the least of the range that meets the limits. Of single runs with it, 75% kept"
        in page.text
    )
    assert "17% to 21%" in page.text
    assert "linkage_nearest[group=overall] < 0.2" in page.text
    assert not re.search(r"https?://|<script|<link|src=|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_a_page_of_what_is_not_met():
    page = Page(frontier_page(tuned(met=False)).decode())
    assert "The limits are not met" in page.text
    assert "Take a smaller k ." in page.text
    assert "chosen" not in page.text


@pytest.mark.slow
def test_equal_results_give_equal_bytes():
    for kind in ("png", "svg"):
        assert frontier_picture(tuned(), kind) == frontier_picture(tuned(), kind)
    assert frontier_page(tuned()) == frontier_page(tuned())


def test_a_png_opens():
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(frontier_picture(tuned(), "png")), format="png")
    assert pixels.shape[0] > 400
    assert pixels[..., :3].min() < 0.5 < pixels[..., :3].max()


def test_an_svg_says_its_values_and_axes():
    root = ET.fromstring(frontier_picture(tuned(), "svg"))
    said = ["".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("}text")]
    assert {"0.1", "0.2", "0.4"} <= set(said)
    assert "linkage_nearest[group=overall], with 95% interval" in said
    assert "delta[variable=<bmi>], lower is better" in said
    assert {"20%", "20.0%"} & set(said)
    assert "0.8" not in said  # it has no figure


def test_labels_keep_out_of_each_others_way():
    crowded = [point(0.2 + i / 10_000, 0.19 + i / 100_000, 0.2) for i in range(30)]
    root = ET.fromstring(frontier_picture(tuned(path=(*PATH, *crowded)), "svg"))
    said = ["".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("}text")]
    assert not [text for text in said if re.fullmatch(r"0\.20\d\d", text)]
    assert "0.2" in said


def test_without_any_figure_there_is_still_a_picture():
    empty = tuned(path=(point(0.2, None, None),))
    assert frontier_picture(empty, "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("met", [True, False])
def test_for_a_terminal(met):
    from rich.console import Console

    out = io.StringIO()
    show_tuned(tuned(met), Console(file=out, width=120))
    text = " ".join(out.getvalue().split())
    assert "Limit 1: linkage_nearest[group=overall] < 0.2" in text
    assert "Limit 2: k_anonymity >= 5" in text
    assert "delta[variable=<bmi>]" in text
    assert "✕ 0.1 1 40% 38% to 42% 0.1 0.01 75%" in text
    assert ("→ 0.2 1 19%" in text) == met
    assert ("No value that was tried" in text) != met


def test_further_runs_are_said_in_words():
    page = Page(frontier_page(replace(tuned(), fresh=20)).decode())
    assert "Of 20 further runs, with other secrets, 75% kept to them" in page.text
