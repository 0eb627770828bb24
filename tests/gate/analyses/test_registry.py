import importlib
import pkgutil

import pytest

import sfumato.gate.analyses.kinds as folder
from sfumato.errors import DataError
from sfumato.gate.analyses.registry import KINDS, kind_of
from sfumato.gate.analyses.request import read_analysis
from tests.gate.analyses.people import people, records


def test_every_file_is_a_kind():
    names = {
        importlib.import_module(f"{folder.__name__}.{m.name}").KIND.name for m in pkgutil.iter_modules(folder.__path__)
    }
    assert names == set(KINDS)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_everything_is_said(kind):
    assert kind.title
    assert kind.statbarn
    assert kind.sentence.endswith(".")
    if kind.name == "boxes":
        assert [one.name for one in kind.limits("acro")] == ["levels"]
    elif kind.shape == "fit":
        assert all(one.source for limits in kind.thresholds.values() for one in limits)
        assert {one.name for one in kind.limits("acro")} == {"residual_df", "levels"}
        assert {one.name for one in kind.limits("datashield")} == {"parameters", "levels"}
        assert {one.name for one in kind.limits(None)} == {"residual_df", "parameters", "levels"}


def test_a_name_that_is_none():
    with pytest.raises(DataError, match="Kinds: crosstab"):
        kind_of("arima")


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_its_example_can_be_asked(kind):
    """On data that have these names."""
    frame = people(500).rename({"visits": "v"}).with_columns(visits="v", stay="stay")
    bands = {str(age): f"{age // 10 * 10}-" for age in range(18, 90)}
    data = records(frame, levels={"age": {"band10": bands}, "weeks": {"interval": {str(w): str(w) for w in range(5)}}})
    beside = {"event": "gone"} if "event" in kind.needs else {"cluster": "gp"} if "cluster" in kind.needs else {}
    assert read_analysis(data, kind.name, kind.example, **beside).kind is kind
