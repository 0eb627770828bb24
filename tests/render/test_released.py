"""Pictures of releases: what is drawn is what stands in the release, at the place where it belongs."""

import xml.etree.ElementTree as ET

import pytest

from sfumato.render.released import bars, boxes, forest, picture_of, survival


def rects(text):
    return [one.attrib for one in ET.fromstring(text).iter("rect")]


def texts(text):
    return [one.text for one in ET.fromstring(text).iter("text")]


def test_bars_are_as_long_as_their_values():
    text = bars([("a", 10), ("b", 30), ("c", 0)], "x", "count")
    widths = [float(one["width"]) for one in rects(text)]
    assert widths[1] == pytest.approx(3 * widths[0], abs=0.05)
    assert widths[2] == 0
    assert {"a", "b", "c", "10", "30", "0"} <= set(texts(text))


def test_bars_of_negative_sums_lead_to_the_left():
    left, right = rects(bars([("a", -10), ("b", 10)], "x", "sum"))
    assert float(left["x"]) + float(left["width"]) == pytest.approx(float(right["x"]), abs=0.02)


def test_the_middle_of_a_box_is_its_median():
    text = boxes([("a", 0, 10, 20, 30, 40)])
    [box] = rects(text)
    lines = [one.attrib for one in ET.fromstring(text).iter("line")]
    median = next(one for one in lines if one.get("stroke-width") == "2.5")
    assert float(median["x1"]) == pytest.approx(float(box["x"]) + float(box["width"]) / 2, abs=0.02)


def test_a_survival_curve_begins_at_one_and_steps_down():
    text = survival(["1", "2"], {"all": [0.5, 0.25]})
    path = next(ET.fromstring(text).iter("path")).attrib["d"].replace("M", "").replace("L", "").split()
    heights = [float(one) for one in path[1::2]]
    top, bottom = 12.0, 205.0
    assert heights == pytest.approx(
        [top, top, (top + bottom) / 2, (top + bottom) / 2, bottom - (bottom - top) / 4], abs=0.1
    )


def test_curves_differ_in_their_dashes():
    text = survival(["1"], {"a": [0.5], "b": [0.4], "c": [0.3]})
    dashes = [one.attrib.get("stroke-dasharray", "") for one in ET.fromstring(text).iter("path")]
    assert len(set(dashes)) == 3


def test_an_estimate_lies_in_its_interval_and_nought_is_marked():
    text = forest([("Intercept", 9, 8, 10), ("x", 1, 0.5, 1.5)])
    assert "Intercept" not in texts(text)
    [mark] = rects(text)
    line = next(one.attrib for one in ET.fromstring(text).iter("line") if one.attrib.get("stroke-width") == "1.8")
    middle = float(mark["x"]) + 4
    assert middle == pytest.approx((float(line["x1"]) + float(line["x2"])) / 2, abs=0.02)


def test_estimates_that_have_no_end_are_left_out():
    assert forest([("x", 1, float("-inf"), 2)]) == ""


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ({"columns": ["a", "count"], "rows": [["x", 4]], "by": [["a", ""]]}, "Count by a"),
        ({"columns": ["a", "count", "sum"], "rows": [["x", 4, 9.0]], "by": [["a", ""]]}, "Sum by a"),
        (
            {"columns": ["term", "estimate", "se", "se_added", "low", "high", "p"],
             "rows": [["x", 1.0, 1.0, 0.0, 0.0, 2.0, 0.5]], "by": []},
            "Estimates",
        ),
        (
            {"columns": ["sex", "t", "at_risk", "events", "survival"],
             "rows": [["f", "1", 9, 1, 0.9], ["m", "1", 8, 2, 0.8]], "by": [["sex", ""], ["t", ""]]},
            "Survival",
        ),
        ({"columns": ["term"], "rows": [["x"]], "by": [], "boxes": [["a", 1, 2, 3, 4, 5]]}, "Parallel boxes"),
    ],
)  # fmt: skip
def test_each_release_has_its_picture(content, title):
    assert ET.fromstring(picture_of(content)).find("title").text == title


@pytest.mark.parametrize(
    "content",
    [
        {"columns": ["a", "b", "count"], "rows": [["x", "y", 4]], "by": [["a", ""], ["b", ""]]},
        {"columns": ["a", "count"], "rows": [], "by": [["a", ""]]},
        {"columns": ["count"], "rows": [[4]], "by": []},
    ],
)
def test_others_have_none(content):
    assert picture_of(content) is None
