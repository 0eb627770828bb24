"""suppress_cells as a step: who matches whom is counted anew, pair by pair."""

import itertools

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.suppress_cells import SuppressCells
from sfumato.release.run import run_steps
from tests.methods.tables import run

LAWFUL = [SuppressCells(keys=("g", "h"), k=20), SuppressCells(keys=("n", "h"), k=3, by=("g",))]
KEYS = ("a", "b", "c")


def people(n=120, seed=5):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({key: rng.choice(["u", "v", "w", "x"], n, p=[0.6, 0.25, 0.1, 0.05]) for key in KEYS})
    return frame.with_row_index("id").with_columns(c=pl.when(pl.col("id") % 17 > 0).then("c"), pay=rng.normal(size=n))


BOOK = Codebook({"id": Variable(role="record")} | {key: Variable(kind="categorical") for key in KEYS})


def matching(frame, keys=KEYS):
    """How many records match each one, a gap any value; looked at pair by pair."""
    rows = frame.select(keys).rows()
    return [sum(all(a is None or b is None or a == b for a, b in zip(r, s, strict=True)) for s in rows) for r in rows]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_enough_records_match_every_record(k):
    frame = people()
    ran = run(SuppressCells(keys=KEYS, k=k), frame, BOOK.only(frame.columns))
    after = ran.after.frame
    assert min(matching(frame)) < k <= min(matching(after))
    gone = {key: int(after[key].null_count() - frame[key].null_count()) for key in KEYS}
    assert dict(ran.suppression.cells) == gone
    assert all((after[key].is_null() | (after[key] == frame[key])).all() for key in KEYS)
    assert after.select("id", "pay").equals(frame.select("id", "pay"))
    assert 0 < sum(gone.values()) < 30  # of 360 cells
    alone = after.join(after.group_by(KEYS).len(), on=KEYS, nulls_equal=True).filter(pl.col("len") < k)
    assert f"{alone.height} records reach k only where" in ran.steps[0].notes[0]


@pytest.mark.slow
def test_within_strata_and_on_every_two_keys():
    frame = people(240)
    step = SuppressCells(keys=("a", "b", "c"), k=2, subsets=[{"size": 2, "k": 4}])
    after = run(step, frame, BOOK.only(frame.columns)).after.frame
    assert min(matching(after)) >= 2
    assert all(min(matching(after, two)) >= 4 for two in itertools.combinations(KEYS, 2))
    by = run(SuppressCells(keys=("a", "b"), by=("c",), k=3), frame, BOOK.only(frame.columns)).after.frame
    large = [part for part in by.partition_by("c") if part.height >= 3]
    assert all(min(matching(part, ("a", "b"))) >= 3 for part in large)


def test_caps_leave_values_and_warn():
    frame = people()
    ran = run(SuppressCells(keys=KEYS, k=5, caps=dict.fromkeys(KEYS, 0.0)), frame, BOOK.only(frame.columns))
    assert ran.after.frame.equals(frame)
    assert "left some records that fewer than 5 match" in ran.steps[0].warnings[0]


def test_any_order_and_partition_of_rows():
    frame, step = people(), SuppressCells(keys=KEYS, k=4)
    book = BOOK.only(frame.columns)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=2)
    made = [
        run_steps([step], data, Draws(bytes(16))).after.frame.sort("id")
        for data in (
            PolarsDataset(frame, book),
            PolarsDataset(shuffled, book),
            PolarsDataset(frame, book, batch_rows=7),
        )
    ]
    assert made[0].equals(made[1])
    assert made[0].equals(made[2])


def test_without_ids_the_same_table_comes_out_whatever_the_order():
    frame = people().drop("id")
    book = BOOK.only(frame.columns)
    one = run(SuppressCells(keys=KEYS, k=4), frame, book).after.frame
    two = run(SuppressCells(keys=KEYS, k=4), frame.sample(fraction=1, shuffle=True, seed=2), book).after.frame
    assert one.sort(one.columns).equals(two.sort(two.columns))


def test_nothing_to_do_changes_nothing():
    frame = pl.DataFrame({"a": ["u"] * 4, "x": [1.0, 2.0, float("nan"), None]})
    ran = run(SuppressCells(keys=("a", "x"), k=1 + 1), frame, Codebook().only(frame.columns))
    assert ran.after.frame["a"].null_count() == 0
    empty = run(SuppressCells(keys=("a",), k=2), frame.head(0), Codebook().only(frame.columns))
    assert empty.after.frame.height == 0


def test_what_is_told():
    frame = people()
    plan = sf.Plan(
        variables={"id": {"role": "record"}} | {key: {"role": "key"} for key in KEYS} | {"pay": {"role": "other"}},
        steps=[SuppressCells(keys=KEYS, k=3)],
    )
    release = sf.protect(plan, frame, secret=bytes(16))
    (part,) = release.disclosure.parts
    assert part.cells
    assert part.sentence() == (
        "a, b, c: values were taken out so that at least 3 records match every record, a gap matching any value."
    )
    assert {f.variable for f in release.report.findings.select("suppressed_cells")} == set(KEYS)
    fitted = sf.fit("pay ~ a", release.data, release.disclosure)
    assert any("not random" in note for note in fitted.notes)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"k": 1}, "greater than or equal to 2"),
        ({"importance": ["z"]}, "not among the keys"),
        ({"caps": {"a": 2}}, "shares from 0 to 1"),
        ({"by": ["a"]}, "in `by`, and among the keys"),
        ({"subsets": [{"size": 3, "k": 2}]}, "fewer keys"),
        ({"keys": ["a", "a"]}, "twice"),
    ],
)
def test_what_does_not_go_together(more, says):
    with pytest.raises(ValidationError, match=says):
        SuppressCells(**({"keys": KEYS} | more))


# Cells that the field's R package takes out, an upper bound; of the files in sdcmicro (notes on records at risk)
PEER = {
    "testdata": (("urbrur", "roof", "walls", "water", "sex"), {2: 12, 3: 24, 5: 60}),
    "free1": (("SEX", "MARSTAT", "EDUC1", "ETNI"), {2: 60, 3: 95, 5: 150}),
}


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "k"), [(name, k) for name, (_, most) in PEER.items() for k in most])
def test_no_more_cells_than_the_peer(shared_data, name, k):
    keys, most = PEER[name]
    frame = sf.read(shared_data / "sdcmicro" / f"{name}.csv").frame
    ran = run(SuppressCells(keys=keys, k=k), frame, Codebook().only(frame.columns))
    assert sum(ran.suppression.cells.values()) <= most[k]
    assert min(matching_fast(ran.after.frame.select(keys))) >= k


def matching_fast(frame):
    """The same count for thousands of records: distinct patterns pair by pair."""
    counted = frame.group_by(frame.columns).len()
    rows, n = counted.drop("len").rows(), counted["len"].to_list()
    return [
        sum(m for s, m in zip(rows, n, strict=True) if all(None in (a, b) or a == b for a, b in zip(r, s, strict=True)))
        for r in rows
    ]
