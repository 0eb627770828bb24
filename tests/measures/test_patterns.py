import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.finding import Finding
from sfumato.data.remembered import Remembered
from sfumato.errors import DataError
from sfumato.measures.measuring import Measuring
from sfumato.measures.patterns import class_findings, patterns, ranked, value_counts, value_findings, values
from sfumato.measures.subject import KEYS_AND_OTHERS, Classes, Subject
from sfumato.measures.taking_part import informative, taking_part
from tests.measures.tables import BY, distributions, keyed, records, sizes, table

SURVEY = pl.DataFrame({"sex": ["f", "f", "m", None, "m"], "w": [2.0, 3.0, -9.0, 1.5, None]})
WEIGHTS = Codebook({"w": Variable(role="weight", kind="continuous", missing=[-9])})


def alike(rows, alpha):
    """Records that count as alike, pair by pair: what both know agrees; incomplete ones count alpha."""
    found = []
    for one in rows:
        total = 0.0
        for other in rows:
            if one == other:
                total += 1
            elif all(x == y or x is None or y is None for x, y in zip(one, other, strict=True)):
                nothing = all(x is None for x in one)
                silent = all(y is None for y in other) and None not in one
                total += 1 if nothing or None not in other else 0 if silent else alpha
        found.append(total)
    return found


@settings(max_examples=60)
@given(records)
def test_classes_are_those_of_the_records(rows):
    found = patterns(table(rows), BY)
    assert dict(zip(found.keys.rows(), found.records.tolist(), strict=True)) == sizes(rows)
    assert found.alike.tolist() == found.records.tolist()
    assert found.total == len(keyed(rows))
    assert found.population is None


@settings(max_examples=60)
@given(records, st.sampled_from([0.0, 0.5, 1.0]))
def test_missing_keys_as_wildcards(rows, alpha):
    found = patterns(table(rows), BY, f"wildcard:{alpha}")
    at = telling(rows)
    if not at:
        assert found.alike.tolist() == [len(rows)]
        assert found.records.tolist() == [len(keyed(rows))]
        return
    of_class = dict(zip(found.keys.rows(), found.alike.tolist(), strict=True))
    shown = [tuple(row[i] for i in at) for row in rows]
    expected = [(one, n) for one, n in zip(shown, alike(shown, alpha), strict=True) if any(x is not None for x in one)]
    assert [of_class[one] for one, _ in expected] == pytest.approx([n for _, n in expected])
    assert found.total == len(expected)


RULES = ["wildcard", "wildcard:0", "wildcard:0.3", "wildcard:1"]


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=20)
@given(records, st.lists(st.booleans(), min_size=14, max_size=14))
def test_a_key_in_which_nobody_differs_changes_no_class(rule, rows, there):
    """Constant or empty, with gaps or without, whatever a gap counts."""
    known = pl.Series([True if here else None for here in there[: len(rows)]], dtype=pl.Boolean)
    data = table(rows)
    more = data.frame.with_columns(c=pl.lit("c"), some=pl.when(known).then(pl.lit(7)), none=pl.lit(None, pl.String))
    wide = sf.read(more, codebook=Codebook(data.codebook))
    if not telling(rows):
        return
    by = informative(data.frame, BY, rule)
    assert taking_part(wide, ("none", "a", "c", "b", "some"), rule) == by
    one, two = patterns(data, BY, rule), patterns(wide, ("none", "a", "c", "b", "some"), rule)
    assert two.keys.equals(one.keys)
    assert two.records.tolist() == one.records.tolist()
    assert two.alike.tolist() == one.alike.tolist()


def telling(rows):
    """Places of the keys with two known values or more."""
    return [i for i in (0, 1) if len({row[i] for row in rows} - {None}) > 1]


def test_weights_are_summed_and_no_class_stands_for_less_than_itself():
    """f: 2 + 3. m: a code and nothing, so that two records stand for themselves. Who has no key is in no class."""
    found = patterns(sf.read(SURVEY, codebook=WEIGHTS), ["sex"])
    assert dict(zip(found.keys["sex"], found.population.tolist(), strict=True)) == {"f": 5.0, "m": 2.0}
    wide = patterns(sf.read(SURVEY, codebook=WEIGHTS), ["sex"], "wildcard")
    assert dict(zip(wide.keys["sex"], wide.population.tolist(), strict=True)) == {"f": 5.0, "m": 2.0}


@settings(max_examples=60)
@given(records)
def test_values_are_those_of_the_records(rows):
    found = values(table(rows), BY, "ill")
    groups, whole, counts = distributions(rows)
    if not groups:
        assert found is None
        return
    told = [{} for _ in groups]
    for group, value, count in zip(found.group, found.value, found.count, strict=True):
        told[group][found.levels[int(value)]] = int(count)
    assert sorted(map(_as_text, told)) == sorted(map(_as_text, counts))
    assert dict(zip(found.levels, found.expected, strict=True)) == pytest.approx(whole)
    assert found.sizes.sum() == sum(n for c in counts for n in c.values())
    assert (np.diff(found.group) >= 0).all()
    assert [int(found.value[i]) for i in found.starts] == [
        min(int(v) for v, g in zip(found.value, found.group, strict=True) if g == group) for group in range(len(groups))
    ]


def _as_text(counts):
    return sorted((str(value), n) for value, n in counts.items())


def test_missing_values_may_be_a_category():
    """Where they are none, they are the one value of a class that has no other."""
    rows = [(1, "x", None), (1, "x", "low"), (2, "x", None)]
    found = values(table(rows), BY, "ill")
    assert found.levels.to_list() == ["low", None]
    assert found.share.tolist() == [1.0, 1.0]
    found = values(table(rows), BY, "ill", "category")
    assert found.levels.to_list() == ["low", None]
    assert found.share.tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    ("levels", "variable", "expected"),
    [
        (pl.Series([10.5, 9.0, None]), Variable(), [9.0, 10.5, None]),
        (pl.Series(["b", None, "a"]), Variable(), ["a", "b", None]),
        (pl.Series([3, 1, 2]), Variable(kind="ordinal", order=(2, 3, 1)), [2, 3, 1]),
        (pl.Series(["z", "high", "a", "low"]), Variable(order=("low", "high")), ["low", "high", "a", "z"]),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), Variable(), ["b", "a"]),
        (pl.Series(["b", "a"], dtype=pl.Categorical), Variable(), ["a", "b"]),
        (pl.Series([True, False]), Variable(), [False, True]),
    ],
)
def test_the_order_of_values(levels, variable, expected):
    assert ranked(levels, variable).to_list() == expected


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["m", "f"]), pl.Boolean, pl.Float64, pl.Date])
def test_wildcards_in_keys_of_any_type(dtype):
    made = {pl.Boolean: [True, False, None], pl.Float64: [1.5, 2.0, float("nan")]}.get(dtype, ["f", "m", None])
    keys = pl.Series("k", made if dtype != pl.Date else [1, 2, None]).cast(dtype)
    found = patterns(sf.read(pl.DataFrame([keys])), ["k"], "wildcard")
    assert found.alike.tolist() == [1.0, 1.0]  # who has no key is in no class, and adds nothing to others


def test_nothing_to_count():
    assert patterns(table([(1, "x", None)]), []) is None
    assert patterns(table([(1, "x", None)]).map(lambda frame: frame.clear()), ["a"]) is None
    assert values(table([(1, "x", None)]), ["a"], "ill") is None
    for call in (lambda: patterns(table([]), ["z"]), lambda: value_counts(table([]), ["a"], "z")):
        with pytest.raises(DataError, match="no column 'z'"):
            call()


def test_one_question_serves_all():
    class Counting:
        codebook = table([]).codebook
        asked = ()

        def ask(self, query):
            self.asked += (query,)
            return table([(1, "x", "low"), (1, "y", "mid")]).ask(query)

        def map(self, f, by=None, codebook=None):
            raise AssertionError

    data = Counting()
    subject = Subject(data, classes=(Classes("keys", BY), Classes("strata", ("a",))), sensitive=("ill",))
    class_findings(subject, [("n", None, lambda found: float(found.total))])
    value_findings(subject, [("m", None, lambda found: float(len(found.levels)))])
    assert len(data.asked) == 1
    assert patterns(subject.after, BY) is patterns(subject.after, BY)
    assert isinstance(subject.after, Remembered)


def test_lines_beside_the_original():
    data, given = table([(1, "x", "low"), (1, "y", "mid")]), table([(1, "x", "low")])
    subject = Subject(data, given=given, classes=(Classes("keys", ("a",)),), sensitive=("ill", "b"))
    found = class_findings(subject, [("n", 2.0, lambda found: float(found.total))])
    assert list(found) == [Finding("n", group="keys", at=2.0, value=2.0, baseline=1.0)]
    told = value_findings(subject, [("m", None, lambda found: None)], none="None of {}.")
    assert [(f.variable, f.value) for f in told] == [("ill", None), ("b", None)]
    assert told.notes == ("None of 'ill', 'b'.",)
    nothing = Subject(table([(1, "x", None)]), classes=(Classes("keys", ("a",)),), sensitive=("ill",))
    assert value_findings(nothing, [("m", None, lambda found: 1.0)])[0].value is None


def test_several_sensitive_variables_together():
    subject = Subject(table([]), classes=(Classes("keys", ("a",)),), sensitive=("ill", "b"))
    assert len(list(subject.of_sensitive_together())) == 2
    together = Subject(table([]), classes=subject.classes, sensitive=subject.sensitive, how=Measuring(together=True))
    assert [(c.group, c.by, name) for c, name in together.of_sensitive_together()][2:] == [
        (KEYS_AND_OTHERS, ("a", "b"), "ill"),
        (KEYS_AND_OTHERS, ("a", "ill"), "b"),
    ]
