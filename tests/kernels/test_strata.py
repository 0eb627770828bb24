import numpy as np
import pytest

from sfumato.data.codebook import Variable
from sfumato.data.hierarchy import category_ladder
from sfumato.kernels.strata import Ladder, merge_small
from tests.data.distance import category_distance


def compared_one_by_one(strata, small, size, distance):
    """The rule as it is stated: of each small stratum, smallest first, the distance to every other one."""
    place = {s: i for i, s in enumerate(strata)}
    total = {s: size[s] for s in strata}
    members = {s: [s] for s in strata}
    waiting = {s for s in strata if small([s])}
    while waiting:
        source = min(waiting, key=lambda s: (total[s], place[s]))
        near = [(distance(source, s), -total[s], place[s], s) for s in members if s != source]
        nearest = min(near, key=lambda n: n[:3], default=None)
        if nearest is None or nearest[0] == float("inf"):
            return None
        target = nearest[3]
        waiting.discard(source)
        members[target] += members.pop(source)
        total[target] += total.pop(source)
        waiting = waiting | {target} if small(members[target]) else waiting - {target}
    moved = {m: s for s, group in members.items() for m in group if m != s}
    return {s: moved[s] for s in strata if s in moved}


def merged(size, smallest):
    """Strata that differ in whole columns alone."""
    columns = zip(*sorted(size), strict=True)
    ladders = [Ladder(tuple((v, "all") for v in values), (0.0, 1.0)) for values in columns]
    return merge_small(dict(sorted(size.items())), ladders, int.__add__, int, lambda n: n < smallest)


def test_a_small_stratum_joins_the_one_with_fewest_changes():
    size = {("f", "north"): 9, ("f", "south"): 2, ("m", "north"): 9, ("m", "south"): 7}
    assert merged(size, 5) == {("f", "south"): ("f", "north")}


def test_the_larger_of_equally_near_ones_is_taken():
    size = {("f", "a"): 2, ("f", "b"): 6, ("f", "c"): 9}
    assert merged(size, 5) == {("f", "a"): ("f", "c")}


def test_merging_goes_on_until_none_is_small():
    size = {("f", "a"): 1, ("f", "b"): 1, ("m", "a"): 10}
    assert set(merged(size, 5).values()) == {("m", "a")}


def test_nothing_small_nothing_moved():
    assert merged({("f",): 5, ("m",): 5}, 5) == {}


def test_one_that_stays_too_small_is_told():
    assert merged({("f",): 1, ("m",): 2}, 5) is None
    assert merged({("f",): 1}, 5) is None


NESTED = Variable(hierarchy={i: (i // 2, "low" if i < 5 else "high") for i in range(9)})
CROSSED = Variable(hierarchy={i: (i % 3, i % 2, i // 4)[: 1 + i % 3] for i in range(8)})
PLAIN = Variable()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("books", "number"),
    [
        ((NESTED, PLAIN), 60),
        ((NESTED, CROSSED, PLAIN), 150),
        ((PLAIN,) * 8, 120),  # 256 choices of rungs, and strata far apart
        ((CROSSED, NESTED, PLAIN, PLAIN, PLAIN), 200),
    ],
)
def test_it_is_what_comparing_one_by_one_gives(books, number, seed):
    """Many strata tie; some hold two kinds of records, each of which must be many; some must not be joined."""
    rng = np.random.default_rng(seed)
    keys = sorted(
        {tuple(int(v) for v in rng.integers(0, 10 if len(books) < 6 else 3, len(books))) for _ in range(number)}
    )
    held = {(*k, int(rng.integers(0, 2))): tuple(int(v) for v in rng.integers(0, 5, 2)) for k in keys}
    strata = list(held)
    columns = list(zip(*strata, strict=True))
    ladders = [category_ladder(book, values) for book, values in zip(books, columns, strict=False)]
    ladders.append(Ladder(tuple((v,) for v in columns[-1]), (0.0,)))

    def small(one):
        return sum(one) < 6 or 0 < one[1] < 3

    def join(one, other):
        return one[0] + other[0], one[1] + other[1]

    def distance(a, b):
        if a[-1] != b[-1]:
            return float("inf")
        return sum(category_distance(book, x, y) for book, x, y in zip(books, a, b, strict=False))

    def small_together(members):
        return small(tuple(sum(held[m][j] for m in members) for j in (0, 1)))

    size = {s: sum(one) for s, one in held.items()}
    wanted = compared_one_by_one(strata, small_together, size, distance)
    assert merge_small(held, ladders, join, sum, small) == wanted
    assert wanted is None or wanted
