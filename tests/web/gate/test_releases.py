import io

import polars as pl
import pytest


def given(world, who="ann", **body):
    client = world.client(who)
    answer = client.post("/datasets/ward/tables", json={"by": ["sex"]} | body).json()
    return client, answer["release"]["id"], answer


def test_own_releases_page_by_page(world):
    client = world.client("ann")
    wanted = []
    for by in (["sex"], ["region"], [], ["region@area"], ["sex", "region@area"]):
        wanted.append(client.post("/datasets/ward/tables", json={"by": by}).json()["release"]["id"])
    found, cursor = [], ""
    while cursor is not None:
        told = client.get("/me/releases", params={"cursor": cursor, "limit": 2}).json()
        assert len(told["items"]) <= 2
        found += [one["id"] for one in told["items"]]
        cursor = told["next"]
    assert found == wanted
    assert client.get("/me/releases").json()["next"] is None
    assert world.client("cat").get("/me/releases").json()["items"] == []


@pytest.mark.parametrize(
    "query", [{"cursor": "x"}, {"cursor": "-1"}, {"limit": 0}, {"limit": 1001}, {"limit": "x"}], ids=str
)
def test_bad_pages(world, query):
    assert world.client("ann").get("/me/releases", params=query).status_code == 422


def test_a_release_has_its_papers(world):
    client, name, answer = given(world)
    told = client.get(f"/releases/{name}").json()
    assert told["rows"] == [["f", 150], ["m", 150]]
    assert (told["dataset"], told["version"], told["exact"]) == ("ward", "v1", True)
    assert told["ledger"] == answer["ledger"]
    assert "true" in told["disclosure"]


def test_files(world):
    client, name, answer = given(world, value={"mean": "cost"})
    csv = client.get(f"/releases/{name}", params={"format": "csv"})
    assert csv.headers["content-type"].startswith("text/csv")
    assert "attachment" in csv.headers["content-disposition"]
    assert csv.headers["x-sfumato-ledger"].startswith(f"{answer['ledger']['seq']}:")
    frame = pl.read_csv(io.BytesIO(csv.content))
    assert frame.columns == ["sex", "count", "n", "sum", "mean"]
    parquet = client.get(f"/releases/{name}", params={"format": "parquet"})
    assert pl.read_parquet(io.BytesIO(parquet.content)).to_dict() is not None
    papers = pl.read_parquet_metadata(io.BytesIO(parquet.content))
    assert papers["sfumato:release"] == name
    sheets = client.get(f"/releases/{name}", params={"format": "xlsx"})
    assert pl.read_excel(io.BytesIO(sheets.content), sheet_name="release")["count"].to_list() == [150, 150]
    told = pl.read_excel(io.BytesIO(sheets.content), sheet_name="papers", has_header=False)
    assert name in [one for row in told.rows() for one in row]
    assert client.get(f"/releases/{name}", params={"format": "doc"}).status_code == 422


def test_others_do_not_get_it(world):
    _, name, _ = given(world)
    told = {who: world.client(who).get(f"/releases/{name}") for who in ("bob", "cat", "eve", "aud")}
    assert {who: one.status_code for who, one in told.items()} == {"bob": 404, "cat": 404, "eve": 403, "aud": 403}
    assert world.client().get(f"/releases/{name}").status_code == 401
    missing = world.client("bob").get("/releases/nothing")
    assert missing.text == told["bob"].text


def test_what_is_public_is_for_anybody(world):
    margin, where = world.gate.request("ward", ["sex"])
    public = world.gate.ask("public", "ward", margin, where)
    for client in (world.client(), world.client("ann"), world.client("eve"), world.session("aud")):
        assert [one["id"] for one in client.get("/public").json()["items"]] == [public.release.id]
        assert client.get(f"/releases/{public.release.id}").json()["rows"] == [["f", 150], ["m", 150]]
        assert client.get(f"/releases/{public.release.id}", params={"format": "csv"}).status_code == 200
