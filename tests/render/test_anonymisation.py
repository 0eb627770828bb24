"""The screen of `anonymise`: the verdict, a line for each key, what is left out, and what to do next."""

import polars as pl
from rich.cells import cell_len

import sfumato as sf
from sfumato.render.anonymisation import others_of_anonymised, screen_of_anonymised, searched
from sfumato.render.layout import Following

NEXT = Following((("open", "release/report.html"),))


def shown(frame, keys, **asked):
    found = sf.anonymise(frame, keys, **asked)
    report = sf.protect(found.plan, frame, secret=bytes(32)).report
    return screen_of_anonymised(found, report, NEXT, written=report.verdict == "holds")


def fits(lines):
    return len(lines) <= 24 and all(cell_len(line) <= 80 for line in lines)


def test_what_went_is_told_with_its_reason():
    frame = pl.DataFrame({"town": ["a"] * 50 + ["b"] * 2, "sex": ["f", "m"] * 26})
    lines = shown(frame, ["town", "sex"], k=3)
    assert lines[0] == "HOLDS  every class of town, sex has 3 records or more."
    assert any(line.startswith("Left out: 2 of 52 records (3.85%), whose class does not meet k = 3") for line in lines)
    assert lines[-2:] == ["Next:", "  open release/report.html"]
    assert fits(lines)


def test_what_else_is_met_is_said():
    frame = pl.DataFrame({"town": list("aabb") * 10, "ill": ["x", "y"] * 20})
    lines = shown(frame, ["town"], k=3, sensitive=["ill"], l=2)
    assert lines[0] == "HOLDS  every class of town has 3 records or more, and meets l = 2 (distinct) of"
    assert lines[1].strip() == "ill."


def test_what_is_not_decided_says_on_whom_it_hangs():
    frame = pl.DataFrame({"sex": ["f", "m"] * 26, "fare": [1.5 * i for i in range(52)]})
    (first, *_) = shown(frame, ["sex"], k=3)
    assert first.startswith("UNDECIDED  ")
    assert "holds only if nobody knows fare" in first


def test_many_keys_with_long_names_fit():
    keys = [f"{'鍵' * 30}{i}" for i in range(30)]
    lines = shown(pl.DataFrame({key: ["f", "m"] * 26 for key in keys}), keys, k=3)
    assert any(line.startswith(" … and ") for line in lines)
    assert len(lines) <= 24
    assert all(cell_len(line) <= 80 for line in lines if line.startswith(" "))


def test_where_everything_goes_the_key_to_coarsen_is_named():
    frame = pl.DataFrame({"age": [*range(20), 20, 20, 20, 20]})  # 20 records stand alone, which loses less than `*`
    lines = shown(frame, ["age"], k=2, suppression_limit=1, loss="precision")
    assert "Left out: 20 of 24 records (83.33%), whose class does not meet k = 2." in lines
    assert any(line.startswith("Next: Coarsen age, whose categories are the most") for line in lines)


def test_a_key_of_which_nothing_is_left_wants_a_hierarchy():
    frame = pl.DataFrame({"age": range(20, 60), "sex": ["f", "m"] * 20})
    assert "Nothing but * is left of age, which has no hierarchy" in " ".join(shown(frame, ["age", "sex"], k=3))


def test_local_recoding_is_not_said_to_be_best():
    frame = pl.DataFrame({"town": list("aabbccdd") * 5})
    assert "less may be possible" in searched(sf.anonymise(frame, ["town"], k=3, local=True))


def test_what_else_could_be_had():
    frame = pl.DataFrame({"town": ["a"] * 50 + ["b"] * 2, "sex": ["f", "m"] * 26})
    found = sf.anonymise(frame, ["town", "sex"], k=3)
    lines = others_of_anonymised(found, [*found.others(), ("k = 99", None)])
    assert lines[-1].split() == ["k", "=", "99", "none", "no", "levels", "meet", "it"]
    assert len(lines) == 6
