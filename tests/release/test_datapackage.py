import datetime
import json

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure, Dropped
from sfumato.release.datapackage import datapackage

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
            title="t",
            description=None,
            created="2026-01-01",
            version="1",
            file="data.csv",
            frame=FRAME,
            codebook=BOOK,
            disclosure=Disclosure((Dropped(columns=("name",)),)),
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
