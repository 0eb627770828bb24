from sfumato.kernels.strata import merge_small


def apart(a, b):
    return sum(x != y for x, y in zip(a, b, strict=True))


def merged(size, smallest):
    strata = sorted(size)
    return merge_small(strata, lambda m: sum(size[s] for s in m) < smallest, size, apart)


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
