"""Canonical forms, and margins as commands write them."""

import hashlib
import json

import pytest

from sfumato.errors import DataError
from sfumato.gate.margin import Margin, Node, canonical_json, parsed

NAMES = ["age", "sex", "a,b", "x|y", "u@v"]
LEVELS = [("age", "band"), ("age", "ten,year")]


@pytest.mark.parametrize(
    ("text", "nodes", "value"),
    [
        ("", [], ""),
        ("age", [("age", "")], ""),
        ("sex , age@band", [("age", "band"), ("sex", "")], ""),
        ("age,age,age@band", [("age", ""), ("age", "band")], ""),
        ("age|sex", [("sex", "")], "age"),
        ("age|", [], "age"),
        (r"a\,b,x\|y,u\@v", [("a,b", ""), ("u@v", ""), ("x|y", "")], ""),
        (r"age@ten\,year", [("age", "ten,year")], ""),
    ],
)
def test_what_commands_write(text, nodes, value):
    assert parsed(text, NAMES, LEVELS) == Margin(tuple(Node(*node) for node in nodes), value)


@pytest.mark.parametrize(
    "text", ["weight", "age@none", "weight|age", "sex@band", ",", "age,", "age@", "@", "age||sex", "age=4"]
)
def test_what_there_is_not(text):
    if text in ("age@", "age,"):  # nothing behind the mark
        assert parsed(text, NAMES, LEVELS) == Margin.of([Node("age")])
        return
    with pytest.raises(DataError):
        parsed(text, NAMES, LEVELS)


def test_a_margin_is_written_as_it_is_read():
    one = Margin.of([Node("age", "band"), Node("sex")], value="age", version="v3")
    assert parsed(one.label, NAMES, LEVELS, "v3") == one
    assert Margin.from_plain(json.loads(json.dumps(one.to_plain()))) == one


def test_the_digest_is_of_the_canonical_form_alone():
    one, same = (Margin.of(nodes) for nodes in ([Node("b"), Node("a")], [Node("a"), Node("b"), Node("a")]))
    assert one.digest == same.digest
    told = '{"by":[["a",""],["b",""]],"value":"","version":"v1","weight":""}'
    assert one.digest == hashlib.sha256(told.encode()).hexdigest()
    others = [
        Margin.of([Node("a")]),
        Margin.of(one.nodes, "a"),
        Margin.of(one.nodes, "", "a"),
        Margin.of(one.nodes, version="v2"),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 5


def test_canonical_json_has_no_floats():
    assert canonical_json({"b": [1, None, True], "a": "ß"}) == '{"a":"ß","b":[1,null,true]}'.encode()
    for value in (1.0, {"a": [0.5]}, [float("nan")]):
        with pytest.raises(ValueError, match="floats"):
            canonical_json(value)


def test_a_fit_is_written_and_read():
    fit = Margin(version="v2", noise="9", fit='{"formula":"y ~ a","kind":"logistic"}')
    assert Margin.from_plain(fit.to_plain()) == fit
    assert fit.label == "~logistic: y ~ a"
    assert fit.digest != Margin(version="v2", noise="9").digest
    assert "fit" not in Margin().to_plain()
