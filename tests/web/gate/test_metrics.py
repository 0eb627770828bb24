import pytest


def test_counts_by_route_and_status(world):
    world.client("ann").get("/datasets/ward")
    world.client("ann").get("/datasets/planted")
    world.client().get("/planted")
    told = world.client(client=("127.0.0.1", 1)).get("/metrics").text
    assert 'sfumato_requests_total{route="/datasets/{dataset}",status="200"} 1.0' in told
    assert 'sfumato_requests_total{route="/datasets/{dataset}",status="404"} 1.0' in told
    assert 'sfumato_requests_total{route="-",status="404"} 1.0' in told
    assert "planted" not in told
    assert "ann" not in told


@pytest.mark.parametrize("header", [{}, {"X-Forwarded-For": "127.0.0.1"}], ids=str)
def test_not_for_others(world, header):
    address = ("10.0.0.7", 1) if not header else ("127.0.0.1", 1)
    assert world.client(client=address).get("/metrics", headers=header).status_code == 404
