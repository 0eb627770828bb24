from pathlib import Path

from tests.real_data import real_data


def test_a_name_that_is_set_to_nothing_is_not_set():
    beside = Path(__file__).parents[2] / "shared" / "data"
    assert real_data({}) == beside
    assert real_data({"SFUMATO_DATA": ""}) == beside
    assert real_data({"SFUMATO_DATA": "/elsewhere"}) == Path("/elsewhere")
