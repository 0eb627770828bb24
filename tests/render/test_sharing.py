"""Who shares with whom: everybody is drawn, and what is new is marked by more than a colour."""

import xml.etree.ElementTree as ET

from sfumato.render.sharing import Member, sharing

PEOPLE = [
    *(Member(name, "organisation") for name in ("north", "south")),
    Member("trial", "group"),
    *(Member(name, "user") for name in ("ann", "bob", "cat")),
    Member("public", "public"),
]
EDGES = {("ann", "north"), ("north", "ann"), ("cat", "south"), ("south", "cat"), ("south", "trial")}


def test_everybody_is_there():
    told = [one.text for one in ET.fromstring(sharing(PEOPLE, EDGES)).iter("text")]
    assert {"north", "south", "trial", "ann", "bob", "cat", "in none"} <= set(told)
    assert told.index("in none") < told.index("bob")


def test_only_one_way_has_an_arrow():
    assert len(list(ET.fromstring(sharing(PEOPLE, EDGES - {("south", "trial")})).iter("polygon"))) == 0
    assert len(list(ET.fromstring(sharing(PEOPLE, EDGES)).iter("polygon"))) == 1
    guest = EDGES - {("cat", "south")}
    assert len(list(ET.fromstring(sharing(PEOPLE, guest)).iter("polygon"))) == 2


def test_what_would_be_new_is_dashed():
    def dashed(root):
        return sum("stroke-dasharray" in one.attrib for one in root.iter() if one.tag in ("line", "path"))

    before = dashed(ET.fromstring(sharing(PEOPLE, EDGES)))
    joined = dashed(ET.fromstring(sharing(PEOPLE, EDGES, {("bob", "north"), ("north", "bob")})))
    shared = dashed(ET.fromstring(sharing(PEOPLE, EDGES, {("north", "south")})))
    assert before == 0
    assert joined > 0
    assert shared > 0


def test_who_would_learn_more_has_a_thicker_edge():
    def thick(text):
        return sum(one.attrib.get("stroke-width") == "2" for one in ET.fromstring(text).iter("rect"))

    assert thick(sharing(PEOPLE, EDGES, reached=["ann", "south"])) == 2
