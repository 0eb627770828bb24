import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.methods.generalising import Unlisted
from sfumato.methods.merge_rare import MergeRare, into_neighbours, into_one, into_parents
from tests.methods.tables import run

LAWFUL = [MergeRare(columns=["g", "h"], min_count=20), MergeRare(columns=["h"], min_count=20, into="rest")]
TOWNS = {"York": ("North",), "Leeds": ("North",), "Hull": ("North",), "Bath": ("South",), "Wells": ("South",)}


def ran(counts, known=None, **how):
    values = [value for value, n in counts.items() for _ in range(n)]
    book = Codebook({"c": Variable(**({"kind": "categorical"} | (known or {})))})
    return run(MergeRare(columns=["c"], **how), pl.DataFrame({"c": pl.Series(values, strict=False)}), book)


def left(done):
    return dict(done.after.frame["c"].value_counts().rows())


def test_rare_categories_become_other():
    done = ran({"a": 9, "b": 2, "c": 4, None: 3}, min_count=5)
    assert left(done) == {None: 3, "Other": 6, "a": 9}
    assert done.steps[0].notes == ("c: 2 categories of 6 records were merged.",)
    assert left(ran({"a": 9, "b": 2, "c": 4}, min_count=5, into="Rest")) == {"Rest": 6, "a": 9}


def test_no_lone_small_one_is_left():
    """The next smallest joins, of equal ones the first by its text."""
    assert left(ran({"a": 9, "b": 7, "c": 2}, min_count=5)) == {"Other": 9, "a": 9}
    assert left(ran({"b": 7, "a": 7, "c": 2}, min_count=5)) == {"Other": 9, "b": 7}
    assert left(ran({"a": 9, "Other": 2}, min_count=5)) == {"Other": 11}
    assert left(ran({"a": 9, "Other": 6, "b": 1}, min_count=5)) == {"Other": 7, "a": 9}


def test_where_all_become_one_it_is_told():
    done = ran({"a": 2, "b": 1}, min_count=5)
    assert left(done) == {"Other": 3}
    assert "became one" in done.steps[0].warnings[0]
    assert ran({"a": 9}, min_count=5).steps[0].warnings == ()


def test_into_parents_level_by_level():
    how = {"known": {"hierarchy": TOWNS}, "min_count": 5, "into": "parent"}
    assert left(ran({"York": 3, "Leeds": 3, "Hull": 9, "Bath": 9}, **how)) == {"North": 6, "Hull": 9, "Bath": 9}
    joined = left(ran({"York": 3, "Leeds": 7, "Hull": 9, "Bath": 9}, **how))
    assert joined == {"North": 10, "Hull": 9, "Bath": 9}  # the next smallest of the siblings
    assert left(ran({"York": 2, "Hull": 1, "Bath": 9, "Wells": 9}, **how)) == {"*": 12, "Wells": 9}
    with pytest.raises(Unlisted):
        ran({"York": 2, "Zyxomma": 9}, **how)


def test_ordered_categories_join_their_neighbours():
    known = {"kind": "ordinal", "order": ["none", "some", "most", "all"]}
    done = ran({"none": 9, "some": 2, "most": 4, "all": 9}, known, min_count=5)
    assert left(done) == {"all": 9, "none": 9, "some to most": 6}
    assert done.after.codebook["c"].order == ("none", "some to most", "all")
    assert done.after.codebook["c"].kind == "ordinal"
    assert "merged with their neighbour" in done.disclosure.sentences()[0]
    assert left(ran({"none": 9, "some": 2, "all": 9}, known, min_count=5, into="Other")) == {"Other": 11, "none": 9}
    with pytest.raises(DataError, match="does not list"):
        ran({"none": 9, "Zyxomma": 2}, known, min_count=5)


def test_numbers_that_stand_for_categories_become_texts_and_keep_labels_that_hold():
    known = {"labels": {1: "York", 2: "Leeds", 3: "Hull", -9: "refused"}, "missing": [-9]}
    done = ran({1: 9, 2: 2, 3: 3, -9: 1}, known, min_count=5)
    assert left(done) == {"-9": 1, "1": 9, "Other": 5}
    assert done.after.codebook["c"].labels == {"1": "York", "-9": "refused"}
    assert left(ran({1.0: 9, 2.0: 2, 3.0: 3}, min_count=5)) == {"1": 9, "Other": 5}
    assert left(ran({1: 9, 2: 8}, min_count=5)) == {"1": 9, "2": 8}  # the type does not tell whether any was rare


def test_which_were_rare_is_not_told():
    done = ran({"a": 9, "Zyxomma": 2, "c": 4}, min_count=5)
    assert list(done.disclosure) == [Coarsened(("c",), "so that categories of fewer than 5 records became Other")]
    assert "Zyxomma" not in repr(done.steps)


def test_what_is_no_category_is_found_before_the_run():
    record, other = Variable(role="record"), Variable(missing=["Other"])
    book = Codebook({"n": Variable(kind="integer"), "id": record, "m": other, "c": Variable()})
    assert "recode it with `band`" in MergeRare(columns=["n"], min_count=5).check(book)[0]
    assert "role record" in MergeRare(columns=["id"], min_count=5).check(book)[0]
    assert "missing code" in MergeRare(columns=["m"], min_count=5).check(book)[0]
    assert "no hierarchy" in MergeRare(columns=["c"], min_count=5, into="parent").check(book)[0]
    for wrong in ({"min_count": 1}, {"min_count": 5, "into": " "}):
        with pytest.raises(ValidationError):
            MergeRare(columns=["c"], **wrong)


counts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 12), min_size=1)


@given(counts, st.integers(2, 10))
def test_nothing_rare_is_left_and_nothing_is_merged_without_need(records, least):
    order = list("abcdefgh")
    tree = Hierarchy(tuple((c, "low" if c < "e" else "high") for c in order))
    one, beside = into_one(records, least, "Other"), into_neighbours(records, least, order)
    for new in (one, beside, into_parents(records, least, tree)):
        sizes = {}
        for old, n in records.items():
            sizes[new.get(old, old)] = sizes.get(new.get(old, old), 0) + n
        assert min(sizes.values()) >= min(least, sum(records.values()))
        assert new == {} or min(records.values()) < least
