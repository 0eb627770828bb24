"""The report in parts."""

import xml.etree.ElementTree as ET

import pytest

from sfumato.render.parts import parts, without_styles
from tests.render import reports


def test_what_a_style_says_stands_in_attributes_of_every_depth():
    svg = '<svg><g style="fill: none; stroke-width: 2"><use x="1" style="opacity: .5" /></g><text>a &lt; b</text></svg>'
    root = ET.fromstring(without_styles(svg))
    assert root[0].attrib == {"fill": "none", "stroke-width": "2"}
    assert root[0][0].attrib == {"x": "1", "opacity": ".5"}
    assert root[1].text == "a < b"
    assert "style" not in without_styles(svg)


@pytest.mark.slow
def test_every_panel_carries_its_figures():
    told = parts(reports.report())
    panels = [panel for plot in told["plots"] for panel in plot["panels"]]
    assert panels
    assert all(panel["figures"]["rows"] and " style=" not in panel["svg"] for panel in panels)
    named = {panel["figures"]["head"][0]: panel["title"] for panel in panels if panel["title"].startswith("fare")}
    assert named == {"fare": "fare"}
