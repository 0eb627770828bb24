import pytest

from sfumato.progress import quiet, split, within


def test_parts_lie_one_behind_the_other_however_deep():
    told = []
    first, second = split(lambda what, share: told.append((what, share)), [1, 3])
    first("a", 0)
    for part in split(within(second, "b"), [2, 1, 0]):
        part("begins", 0)
        part("is over", 1)
    assert [what for what, _ in told] == ["a", *["b: begins", "b: is over"] * 3]
    assert [share for _, share in told] == pytest.approx([0, 0.25, 0.75, 0.75, 1, 1, 1])


def test_no_parts_and_parts_of_no_effort():
    assert split(quiet, []) == []
    told = []
    for part in split(lambda what, share: told.append(share), [0, 0]):
        part("x", 1)
    assert told == [0, 0]
