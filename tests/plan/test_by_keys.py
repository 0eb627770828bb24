"""A draft by keys protects what is known, as little as is enough, and leaves all else as it is."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.errors import DataError
from sfumato.plan.by_keys import draft_by_keys
from sfumato.plan.plan import Plan
from sfumato.plan.wishes import Wishes

pytestmark = pytest.mark.usefixtures("one_draw")

REASON = "given to us alone, and nobody else holds these answers"
N = 600
RNG = np.random.default_rng(37)
PEOPLE = pl.DataFrame(
    {
        "pid": np.arange(N) + 1,
        "fullname": [f"Person Number {i}" for i in range(N)],
        "sex": RNG.choice(["f", "m"], N),
        "town": [f"town {v}" for v in RNG.zipf(1.5, N).clip(max=60)],
        "age": RNG.integers(18, 90, N),
        "pay": RNG.lognormal(10, 1, N).round(2),
        "race": RNG.choice(["a", "b", "c"], N, p=[0.7, 0.2, 0.1]),
        "q1": RNG.choice(["yes", "no"], N),
        "q2": RNG.choice(["yes", "no"], N),
        "wt": RNG.uniform(0.5, 2, N),
        "died": RNG.choice(["no", "yes"], N),
    }
)


def drafted(frame=PEOPLE, **wishes):
    told = Wishes(because=REASON, **wishes).named(frame.columns)
    return draft_by_keys(frame, told.over(profile(frame, Codebook())), told, "people")


def protected(done, frame=PEOPLE):
    return sf.protect(Plan.from_yaml(done.text), frame, secret=bytes(32))


def classes(frame, columns):
    """Records that match each record, where a gap matches anything: counted one by one."""
    codes = np.column_stack(
        [frame[n].cast(pl.String).cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1) for n in columns]
    )
    alike = np.ones((len(codes), len(codes)), dtype=bool)
    for column in codes.T:
        alike &= (column[:, None] == column[None]) | (column[:, None] < 0) | (column[None] < 0)
    return alike.sum(1)


@pytest.mark.parametrize(("purpose", "k"), [("scientific-use", 5), ("public-use", 12)])
def test_what_is_known_has_others_alike_and_the_rest_is_as_it_was(purpose, k):
    keys = ("sex", "town", "age", "race")
    done = drafted(keys=keys, purpose=purpose)
    release = protected(done)
    assert release.verdict == "holds"
    assert (done.group, done.known, done.method) == (k, keys, "keys")
    assert [one.column for one in done.left_out] == ["fullname"]
    assert done.unknown == ("pay", "q1", "q2", "wt", "died")
    assert done.kept == tuple(n for n in PEOPLE.columns if n != "fullname")
    assert release.frame.height >= 0.95 * N
    assert classes(release.frame, keys).min() >= k
    for n in keys:  # rare categories are together, not missing
        assert release.frame[n].null_count() <= 0.05 * N
    for n in done.unknown:
        assert release.frame[n].sort().to_list() == PEOPLE[n].sort().to_list()


def test_numbers_are_averaged_and_few_are_found():
    done = drafted(keys=("sex", "pay"))
    release = protected(done)
    assert release.verdict == "holds"
    assert "do: centroids, columns: [pay], by: [sex], k: 5" in done.text
    found = release.report.findings.of("linkage_nearest", group="released")
    assert found.value <= 0.2


@pytest.mark.parametrize("purpose", ["scientific-use", "public-use"])
def test_equal_records_that_no_id_tells_apart_are_in_larger_groups(purpose):
    """They share several averages, so that groups of k would leave values that fewer than k records have."""
    height = np.random.default_rng(1).integers(150, 350, 129)
    frame = pl.DataFrame({"height": height, "q1": ["yes", "no", "no"] * 43})
    done = drafted(frame, keys=("height",), purpose=purpose)
    assert "do: centroids" in done.text
    assert protected(done, frame).verdict == "holds"


def test_a_number_of_one_value_with_gaps_is_a_category():
    frame = PEOPLE.with_columns(pl.when(pl.col("pid") % 3 == 0).then(7).alias("flag"))
    done = drafted(frame, keys=("flag",))
    assert "flag:     {role: key, kind: categorical}" in done.text
    assert protected(done, frame).verdict == "holds"
    few = PEOPLE.with_columns(pl.when(pl.col("pid") < 3).then(7).alias("flag"))
    done = drafted(few, keys=("flag", "sex"))
    assert protected(done, few).verdict == "holds"
    assert protected(done, few).frame.group_by("sex", *({"flag"} & {*done.kept})).len()["len"].min() >= 5


def test_an_empty_key_is_left_out():
    frame = PEOPLE.with_columns(gone=pl.lit(None, pl.Int64))
    done = drafted(frame, keys=("sex", "gone"))
    assert {one.column: one.because for one in done.left_out}["gone"] == "it holds no values"
    assert protected(done, frame).verdict == "holds"


def test_where_nobody_knows_anything_nothing_is_measured_and_that_is_said():
    done = drafted(PEOPLE.select("sex", "q1"), unknown=("*",))
    assert "nobody is said to know anything" in done.because


def test_the_reason_stands_in_the_plan_and_without_one_it_is_open():
    assert f'columns: others, because: "{REASON}"' in drafted(keys=("sex",)).text
    wishes = Wishes(keys=("sex",)).named(PEOPLE.columns)
    done = draft_by_keys(PEOPLE, wishes.over(profile(PEOPLE, Codebook())), wishes, "people")
    assert 'columns: others, because: "?"' in done.text
    assert protected(done).verdict == "undecided"


def test_a_reason_that_names_somebody_is_refused():
    wishes = Wishes(keys=("sex",), because="nobody but Person Number 17 has ever seen these answers")
    with pytest.raises(DataError, match="names nobody") as caught:
        draft_by_keys(PEOPLE, wishes.over(profile(PEOPLE, Codebook())), wishes, "people")
    assert "17" not in str(caught.value)


def test_all_but_what_is_unknown_is_protected():
    done = drafted(unknown=("q*", "pay", "wt"))
    release = protected(done)
    assert release.verdict == "holds"
    assert done.known == ("sex", "town", "age", "race", "died")
    assert done.unknown == ("pay", "q1", "q2", "wt")
    assert classes(release.frame, [n for n in done.known if n in done.kept]).min() >= 5
    assert release.frame["pay"].sort().to_list() == PEOPLE["pay"].sort().to_list()


def test_a_weight_that_is_not_said_to_be_unknown_leaves():
    left_out = {one.column: one.because for one in drafted(unknown=("q*", "pay")).left_out}
    assert "weight" in left_out["wt"]


def test_a_key_that_nobody_shares_is_left_out_and_said_first():
    frame = PEOPLE.with_columns(code=pl.Series([f"c{i}" for i in range(N)]))
    done = drafted(frame, keys=("sex", "code"))
    assert [one.column for one in done.left_out] == ["code", "fullname"]
    assert done.text.startswith("# 'code' is left out: too few people would share it")
    assert protected(done, frame).verdict == "holds"


def test_where_no_key_can_stay_it_is_said():
    few = PEOPLE.head(8)
    done = drafted(few, keys=("town", "race"))
    assert done.because is not None
    assert done.text.startswith("# This file cannot be released in this way because")
    assert protected(done, few).verdict == "exceeded"


def test_what_is_to_be_kept_leaves_last():
    """Two columns of which one can stay: by itself each is shared by ten people, together by one or two."""
    a, b = np.divmod(np.arange(100), 10)
    frame = pl.DataFrame({"a": [f"a{v}" for v in a], "b": [f"b{v}" for v in b]})
    left = {keep: [one.column for one in drafted(frame, keys=("a", "b"), keep=(keep,)).left_out] for keep in "ab"}
    assert left == {"a": ["b"], "b": ["a"]}


def test_gaps_of_keys_stay():
    frame = PEOPLE.with_columns(pl.when(pl.col("pid") % 5 > 0).then("age").alias("age"))
    done = drafted(frame, keys=("sex", "age"))
    release = protected(done, frame)
    assert release.verdict == "holds"
    assert "impute" not in done.text
    assert 0.2 * N <= release.frame["age"].null_count() <= 0.25 * N


def test_the_plan_tells_no_count_and_no_rare_category():
    done = drafted(keys=("sex", "town", "age"))
    steps = done.text.split("steps:")[1]
    assert not re.search(r"town \d", steps)
    numbers = {int(v) for v in re.findall(r"min_count: (\d+)", steps)}
    assert all(len(str(v).rstrip("0")) <= 1 for v in numbers)
