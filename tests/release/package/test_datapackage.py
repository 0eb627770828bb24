import datetime
import json

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure, Dropped, Misclassified
from sfumato.errors import FileError
from sfumato.release.package.datapackage import ForeignKey, Resource, _json, datapackage
from tests.reasons import nobody_knows

FRAME = pl.DataFrame(
    {
        "id": [1],
        "x": [1.5],
        "t": ["a"],
        "yes": [True],
        "day": [datetime.date(2020, 1, 1)],
        "at": [datetime.datetime(2020, 1, 1, 12)],
    }
)
BOOK = Codebook(
    {
        "id": Variable(role="record"),
        "x": Variable(
            label="Body mass index", unit="kg/m2", missing=[{"code": -9, "label": "refused"}, {"low": -5, "high": -1}]
        ),
        "t": Variable(labels={"a": "first"}),
    }
).only(FRAME.columns)


def test_it_describes_the_table_for_programs():
    package = json.loads(
        datapackage(
            [Resource("data", "data.csv", FRAME, BOOK, Disclosure((Dropped(columns=("name",)),)))],
            title="t",
            description=None,
            created="2026-01-01",
            version="1",
            fingerprint="ab",
            plan_digest="cd",
        )
    )
    (resource,) = package["resources"]
    assert (resource["path"], resource["format"], resource["mediatype"]) == ("data.csv", "csv", "text/csv")
    fields = {f["name"]: f for f in resource["schema"]["fields"]}
    types = {name: f["type"] for name, f in fields.items()}
    assert types == {"id": "integer", "x": "number", "t": "string", "yes": "boolean", "day": "date", "at": "datetime"}
    assert fields["x"]["title"] == "Body mass index"
    assert fields["x"]["missingValues"] == [{"value": "-9", "label": "refused"}]
    assert fields["t"]["categories"] == [{"value": "a", "label": "first"}]
    ours = package["sfumato"]
    assert Disclosure.from_plain(ours["disclosure"]).parts == (Dropped(columns=("name",)),)
    assert Codebook.from_plain(ours["codebook"]) == BOOK


def package(disclosure):
    return datapackage(
        [Resource("data", "data.csv", FRAME, BOOK, disclosure)],
        title="t", description="ä", created="2026-01-01", version="1", fingerprint="ab", plan_digest="cd",
    )  # fmt: skip


def test_of_several_tables_each_has_its_own_papers_and_links_are_foreign_keys():
    key = ForeignKey(("id",), "people", ("pid",))
    visits = Resource("visits", "visits.csv", FRAME, BOOK, Disclosure(), {"id": "the id"}, [key])
    people = Resource("people", "people.sav", FRAME, BOOK, Disclosure((Dropped(columns=("name",)),)))
    told = json.loads(
        datapackage(
            [visits, people],
            title="t",
            description=None,
            created="2026-01-01",
            version="1",
            fingerprint="ab",
            plan_digest="cd",
            several=True,
        )
    )
    assert [r["path"] for r in told["resources"]] == ["visits.csv", "people.sav"]
    assert told["sfumato"] == {"version": "1", "fingerprint": "ab", "plan": "cd"}
    first, second = told["resources"]
    reference = {"resource": "people", "fields": ["pid"]}
    assert first["schema"]["foreignKeys"] == [{"fields": ["id"], "reference": reference}]
    assert "foreignKeys" not in second["schema"]
    assert first["sfumato"]["names"] == {"id": "the id"}
    assert Disclosure.from_plain(second["sfumato"]["disclosure"]).parts == (Dropped(columns=("name",)),)


def test_a_row_of_a_matrix_stands_on_one_line_and_nothing_is_lost():
    n = 30
    matrix = np.full((n, n), 0.5 / (n - 1)) + np.eye(n) * (0.5 - 0.5 / (n - 1))
    told = Disclosure([Misclassified("t", matrix, list(range(n)))])
    content = package(told)
    plain = json.loads(content)
    assert plain["sfumato"]["disclosure"] == told.to_plain()
    assert Disclosure.from_plain(plain["sfumato"]["disclosure"]) == told
    assert plain["description"] == "ä"
    rows = [line for line in content.decode().splitlines() if line.count(",") >= n - 1]
    assert len(rows) == n + 1  # the matrix and its levels


def test_keys_and_empty_parts_are_json():
    """The same as the standard library writes, but for the spaces."""
    value = {7: [], True: {}, None: [[], {}], 2.5: "a\n", "k": [{"x": [1, None, True]}, 3]}
    assert json.loads("".join(_json(value, "\n"))) == json.loads(json.dumps(value))


def test_what_no_reader_would_take_is_not_written(monkeypatch):
    told = Disclosure((Dropped(columns=("name",)),))
    size = len(package(told))
    monkeypatch.setattr("sfumato.release.package.datapackage.MOST_BYTES", size)
    package(told)
    monkeypatch.setattr("sfumato.release.package.datapackage.MOST_BYTES", size - 1)
    with pytest.raises(FileError, match="fewer strata"):
        package(told)


def test_a_release_that_is_too_large_leaves_nothing(monkeypatch, tmp_path):
    steps = [sf.steps.Noise(columns=["x"], sd=1)]
    plan = sf.Plan(variables={"id": {"role": "record"}}, steps=steps, unknown=nobody_knows("id"))
    rows = pl.DataFrame({"id": range(40), "x": [float(i) for i in range(40)]})
    release = sf.protect(plan, rows, secret=bytes(16))
    monkeypatch.setattr("sfumato.release.package.datapackage.MOST_BYTES", 100)
    with pytest.raises(FileError, match="larger than"):
        release.write(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []
