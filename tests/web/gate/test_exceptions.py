import pytest

BODY = {"who": "ann", "dataset": "ward", "request": {"by": ["sex", "region"]}, "reason": "ethics board 12/4"}


def test_an_exception_takes_two(world):
    eve = world.client("eve")
    answer = eve.post("/exceptions", json=BODY)
    assert answer.status_code == 201
    name = answer.json()["id"]
    (one,) = world.client("aud").get("/exceptions").json()["items"]
    assert (one["id"], one["by"], one["reason"]) == (name, "eve", "ethics board 12/4")
    assert eve.post(f"/exceptions/{name}/confirm").status_code == 422
    assert world.client("dan").post(f"/exceptions/{name}/confirm").json()["decision"] == "granted"
    assert world.client("dan").post(f"/exceptions/{name}/confirm").status_code == 422
    told = world.client("ann").get("/me/releases").json()["items"]
    assert [one["table"] for one in told] == ["region,sex"]


@pytest.mark.parametrize(
    "change",
    [
        {"who": "eve"},
        {"who": "nobody"},
        {"dataset": "other"},
        {"request": {"by": ["age"]}},
        {"request": "x"},
        {"reason": "x"},
        {"by": "dan"},
    ],
    ids=str,
)
def test_bad_exceptions(world, change):
    assert world.client("eve").post("/exceptions", json=BODY | change).status_code == 422


def test_no_such_exception(world):
    assert world.client("dan").post("/exceptions/nothing/confirm").status_code == 404
