import io

import polars as pl
from rich.console import Console

import sfumato as sf
from sfumato.render.anonymisation import show


def shown(found, others=()):
    console = Console(file=io.StringIO(), width=120)
    show(found, others, console)
    return console.file.getvalue()


def test_what_went_is_told_with_what_else_could_be_had():
    frame = pl.DataFrame({"town": ["a"] * 50 + ["b"] * 2, "sex": ["f", "m"] * 26})
    found = sf.anonymise(frame, ["town", "sex"], k=3)
    text = shown(found, [*found.others(), ("k = 99", None)])
    assert "2 of 52 records (3.85%) are left out" in text
    assert "no levels meet it" in text


def test_where_everything_goes_the_key_to_coarsen_is_named():
    frame = pl.DataFrame({"id": [*range(20), 20, 20, 20, 20]})  # 20 records stand alone, which loses less than `*`
    found = sf.anonymise(frame, ["id"], k=2, suppression_limit=1, loss="precision")
    assert found.suppressed == 20
    assert "Coarsen id" in shown(found)


def test_a_key_of_which_nothing_is_left_wants_a_hierarchy():
    frame = pl.DataFrame({"age": range(20, 60), "sex": ["f", "m"] * 20})
    assert "Nothing but * is left of age, which has no hierarchy" in shown(sf.anonymise(frame, ["age", "sex"], k=3))


def test_local_recoding_is_not_said_to_be_best():
    frame = pl.DataFrame({"town": list("aabbccdd") * 5})
    assert "less may be possible" in shown(sf.anonymise(frame, ["town"], k=3, local=True))
