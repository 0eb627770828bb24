import pytest

from sfumato.errors import DataError
from sfumato.gate.margin import Margin, Node
from sfumato.gate.service import Gate
from tests.gate.conftest import made_config

SAID = (
    "record: id, variables: {town: {label: Where they live}, name: {role: identifier, kind: categorical}}, "
    "levels: {town: {area: {Bath: South, Leeds: North}}, age: {old: bands.csv}}, cohorts: {both: town == 'Bath'}"
)


@pytest.fixture
def gate(tmp_path):
    rows = [f"{i},{('Bath', 'Leeds')[i % 2]},{20 + i},{'ab'[i % 2]},{i / 7},t{i}" for i in range(40)]
    (tmp_path / "bands.csv").write_text(
        "code,group\n" + "".join(f"{20 + i},{'x' if i < 20 else 'y'}\n" for i in range(40))
    )
    data = "id,town,age,name,cost,note\n" + "\n".join(rows) + "\n"
    config = made_config(tmp_path, "sqlite:///gate.db", data, SAID)
    Gate.init(config)
    with Gate.open(config) as opened:
        yield opened


def test_what_analysts_see(gate):
    book = gate.codebook("ward")
    seen = {one.name: one for one in book.variables}
    assert list(seen) == ["town", "age", "name", "cost", "note", "both"]
    assert (seen["town"].codes, seen["town"].levels) == (("Bath", "Leeds"), {"area": ("North", "South")})
    assert seen["town"].label == "Where they live"
    assert (seen["age"].kind, seen["age"].codes, seen["age"].levels) == ("integer", (), {"old": ("x", "y")})
    assert (seen["cost"].kind, seen["cost"].summed, seen["cost"].codes) == ("continuous", True, ())
    assert seen["name"].codes == seen["note"].codes == ()
    assert seen["both"].codes == ("false", "true")
    assert set(book.nodes()) == {"town", "both", "town@area", "age@old"}


def test_requests_by_its_names(gate):
    margin, where = gate.request("ward", ["age@old", "town"], {"town@area": ["North"]}, value="cost")
    assert margin == Margin.of([Node("age", "old"), Node("town")], value="cost")
    assert where == {Node("town", "area"): ("North",)}


@pytest.mark.parametrize("name", ["age", "cost", "name", "note", "id", "town@age", "@", "", "town@", "both@x"])
def test_what_no_table_is_shown_by(gate, name):
    with pytest.raises(DataError):
        gate.request("ward", [name])
    with pytest.raises(DataError):
        gate.request("ward", ["town"], {name: ["x"]})
    with pytest.raises(DataError):
        gate.groups("ward", {name: ["x"]})


def test_no_such_version(gate):
    with pytest.raises(DataError, match="v1"):
        gate.request("ward", ["town"], version="v2")
