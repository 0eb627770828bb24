import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError, PlanError
from sfumato.methods.map_text import MapText
from sfumato.plan.plan import Plan
from tests.methods.tables import run

LAWFUL = [
    MapText(columns=["h"], map={"u": "a group", "V": "a group", "w": "rare"}, default="rest", min_count=30),
    MapText(columns=["g", "h"], map={"a": "one", "b": "two", "u": "three"}, unmapped="missing"),
]
FIELDS = {"Cardiology": "internal medicine", "ENT": "surgery", "Vascular  Surgery": "surgery"}
BOOK = Codebook(
    {"field": Variable(role="identifier", kind="text", missing=["-9"], labels={"ENT": "ear, nose, throat"})}
)


def table(*texts):
    return pl.DataFrame({"field": texts}, schema={"field": pl.String})


def mapped(*texts, book=BOOK, **more):
    return run(MapText(columns=["field"], **{"map": FIELDS, **more}), table(*texts), book)


def test_texts_are_compared_without_capitals_blanks_and_forms_of_letters():
    ran = mapped("cardiology", " CARDIOLOGY ", "ＥＮＴ", "vascular\u00a0surgery\n", None, "-9")
    assert ran.after.frame["field"].to_list() == ["internal medicine"] * 2 + ["surgery"] * 2 + [None, "-9"]
    variable = ran.after.codebook["field"]
    assert (variable.role, variable.kind, variable.labels) == ("key", "categorical", {})
    assert variable.missing[0].matches("-9")
    assert ran.steps[0].notes == (
        "field: 4 records changed, 0 with a text that is not listed, 0 with a rare result, of which 0 are missing now.",
    )


@pytest.mark.parametrize(("unmapped", "becomes"), [("other", "other"), ("missing", None)])
def test_a_text_that_is_not_listed_never_passes(unmapped, becomes):
    ran = mapped("cardiology", "neonatal surgery in Garrowick", "", unmapped=unmapped)
    assert ran.after.frame["field"].to_list() == ["internal medicine", becomes, None]
    with pytest.raises(
        DataError, match=r"field: there are texts that `map` and `words` of map_text do not list"
    ) as told:
        mapped("cardiology", "neonatal surgery in Garrowick")
    assert "Garrowick" not in str(told.value)


def test_several_values_in_a_cell():
    ran = mapped("ENT; cardiology", "cardiology;ENT;vascular surgery", "ent;", ";", separator=";")
    assert ran.after.frame["field"].to_list() == ["internal medicine; surgery"] * 2 + ["surgery", None]
    for unmapped, becomes in (("other", "other; surgery"), ("missing", None)):
        ran = mapped("ENT; palmistry", separator=";", unmapped=unmapped)
        assert ran.after.frame["field"].to_list() == [becomes]


def test_words_hold_where_no_whole_text_does():
    words = {"heart": "internal medicine", "hip replacement": "orthopaedics"}
    ran = mapped(
        "the HEART, mostly", "Hip-replacement", "heart and hip replacement", "heartless", words=words, unmapped="other"
    )
    assert ran.after.frame["field"].to_list() == ["internal medicine", "orthopaedics", "internal medicine", "other"]
    assert mapped("Cardiology heart", words={"cardiology heart": "x"}, map={}).after.frame["field"].to_list() == ["x"]


def test_rare_results_become_the_default_and_a_lone_default_missing():
    texts = ["cardiology"] * 5 + ["ENT"] * 2
    ran = mapped(*texts, *["chess"] * 3, unmapped="other", min_count=3)
    assert ran.after.frame["field"].to_list() == ["internal medicine"] * 5 + ["other"] * 5
    lone = mapped(*texts, min_count=3)
    assert lone.after.frame["field"].to_list() == ["internal medicine"] * 5 + [None] * 2
    assert lone.steps[0].notes[0].endswith("2 with a rare result, of which 2 are missing now.")
    assert lone.disclosure.sentences() == (
        "field: recoded to more general texts; of those with fewer than 3 records to 'other'.",
    )
    (warned,) = lone.steps[0].warnings
    assert warned.startswith("field: fewer records than `min_count` were made missing")
    assert ran.steps[0].warnings == ()
    assert mapped(*texts, *["chess"] * 3, unmapped="missing", min_count=2).steps[0].warnings == ()
    few = mapped("chess", unmapped="other", min_count=2)
    assert few.after.frame["field"].to_list() == [None]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({}, "needs `map` or `words`"),
        ({"map": {"a": "x", " A": "y"}}, "two keys of `map` differ in capitals or blanks only"),
        ({"map": {" ": "x"}}, "texts that are not empty"),
        ({"map": {"a": " "}}, "texts that are not empty"),
        ({"map": {"a": "x"}, "separator": " "}, "no blank"),
        ({"map": {"a": "x"}, "min_count": 1}, "greater than or equal to 2"),
    ],
)
def test_what_makes_no_map(wrong, says):
    with pytest.raises(ValidationError, match=says):
        MapText(columns=["field"], **wrong)


def test_what_holds_no_text_is_refused_with_the_remedy():
    book = Codebook({"n": Variable(kind="integer"), "id": Variable(role="record", kind="text")})
    step = MapText(columns=["n", "id"], map={"a": "b"})
    assert step.check(book) == [
        "column 'n' is integer; this step takes texts: recode replaces numbers, coarsen_date dates",
        "column 'id' has role record, which this step must not change",
    ]
    with pytest.raises(DataError, match="Column 'field' holds numbers; map_text takes texts: recode"):
        run(MapText(columns=["field"], map=FIELDS), pl.DataFrame({"field": [1]}), Codebook({"field": Variable()}))
    assert "is one of its missing codes" in MapText(columns=["field"], map={"a": "-9"}).check(BOOK)[0]


def test_an_identifier_is_a_key_afterwards_so_that_the_plan_runs():
    plan = Plan(variables={"field": {"role": "identifier"}}, steps=[MapText(columns=["field"], map=FIELDS)])
    plan.check(Codebook({"field": Variable(role="identifier", kind="text")}))
    with pytest.raises(PlanError, match="no column 'other'"):
        Plan(steps=[MapText(columns=["other"], map=FIELDS)]).check(BOOK)


def test_categories_of_other_files_are_texts_too():
    frame = table("ENT", None).cast(pl.Categorical)
    assert run(MapText(columns=["field"], map=FIELDS), frame, BOOK).after.frame["field"].to_list() == ["surgery", None]
    empty = pl.DataFrame({"field": [None, None]})
    assert run(MapText(columns=["field"], map=FIELDS), empty, BOOK).after.frame["field"].to_list() == [None, None]
