import polars as pl
import pytest

from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.analyses.scope import apart, digest_of, lines_of
from sfumato.gate.margin import Margin, Node
from tests.gate.analyses.people import people, records


def fit_of(data, formula="died ~ age", noise="4", **more):
    return read_analysis(data, "logistic", formula, **more).protected_by(noise)


def test_lines_are_those_of_the_groups_with_all_values():
    frame = people()
    data = records(frame)
    request = read_analysis(data, "logistic", "smoker ~ age", {Node("ward"): ["a", "c"]})
    wanted = frame.select(pl.col("smoker").is_not_null() & pl.col("ward").is_in(["a", "c"])).to_series()
    assert lines_of(data, request).tolist() == wanted.to_list()


def test_user_missing_codes_are_no_values():
    from sfumato.data.codebook import Codebook, Variable
    from sfumato.gate.reading import records_of

    frame = pl.DataFrame({"id": [1, 2, 3], "y": ["a", "b", "a"], "x": [1, -9, 2]})
    data = records_of(frame, Codebook({"x": Variable(missing=[-9])}), record="id")
    request = read_analysis(data, "logistic", "y ~ x")
    assert lines_of(data, request).tolist() == [True, False, True]


@pytest.mark.parametrize(("gone", "holds"), [(0, True), (1, False), (4, False), (5, True)])
def test_scopes_that_differ_by_few_are_too_near(gone, holds):
    frame = people(400).with_columns(flag=pl.Series(["x"] * gone + ["y"] * (400 - gone)))
    data = records(frame)
    whole, part = fit_of(data), fit_of(data, where={Node("flag"): ["y"]})
    assert apart(data, [whole, part], 4) is holds
    assert apart(data, [part, whole], 4) is holds


def test_both_sides_are_looked_at():
    """Two scopes of equal size may differ by a record on either side."""
    flag = ["x"] + ["y"] * 398 + ["z"]
    data = records(people(400).with_columns(flag=pl.Series(flag)))
    one, other = (fit_of(data, where={Node("flag"): [end, "y"]}) for end in "xz")
    assert not apart(data, [one, other], 4)


def test_tables_have_no_scope():
    data = records(people(50))
    assert apart(data, [Margin.of([Node("sex")]), fit_of(data)], 4)


def test_lines_of_counts_are_people():
    frame = pl.DataFrame({"y": ["a", "b", "a", "b"], "x": ["p", "p", "q", "q"], "n": [30, 40, 2, 1]})
    from sfumato.gate.reading import records_of

    data = records_of(frame, count="n")
    one, other = fit_of(data, "y ~ x"), fit_of(data, "y ~ x", where={Node("x"): ["p"]})
    assert not apart(data, [one, other], 4)
    assert apart(data, [one, other], 2)


def test_equal_sets_have_equal_names_however_they_are_asked_for():
    data = records(people(200))
    whole = read_analysis(data, "logistic", "died ~ age")
    spelled = read_analysis(data, "logistic", "died ~ age", {Node("sex"): ["F", "M"]})
    part = read_analysis(data, "logistic", "died ~ age", {Node("sex"): ["F"]})
    names = [digest_of(data, lines_of(data, one)) for one in (whole, spelled, part)]
    assert names[0] == names[1] != names[2]


def test_corrected_records_stand_on_both_sides():
    old = people(300)
    new = old.with_columns(died=pl.when(pl.col("id") < 2).then(pl.lit("no")).otherwise("died"), age=pl.col("age"))
    new = new.with_columns(age=pl.when(pl.col("id") < 2).then(89).otherwise("age"))
    data = records(old, versions=[("v2", new)])
    one, other = fit_of(data, version="v1"), fit_of(data, version="v2")
    assert not apart(data, [one, other], 4)
