import pytest

from tests.running.providing import judged

HERE = {"browser": None, "java": None}
LACKS = {"browser": "there is no browser", "java": None}


@pytest.mark.parametrize(
    ("missing", "left_out", "demanded", "brought", "failed", "without"),
    [
        (HERE, [], [], {}, [], []),
        (LACKS, [], [], {}, [], ["browser"]),  # it could not be had here
        (LACKS, ["browser"], [], {}, [], ["browser"]),
        (LACKS, [], ["browser"], {}, ["browser"], ["browser"]),
        (LACKS, [], [], {"browser": "dpkg was interrupted"}, ["browser"], ["browser"]),
        (HERE, ["brwoser"], [], {}, ["brwoser"], []),
    ],
)
def test_what_fails_and_what_is_gone_without(missing, left_out, demanded, brought, failed, without):
    told, gone = judged(missing, left_out, demanded, brought)
    assert [part for part, _ in told] == failed
    assert gone == without
