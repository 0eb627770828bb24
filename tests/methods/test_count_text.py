import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError
from sfumato.methods.count_text import CountText
from tests.methods.tables import run

LAWFUL = [CountText(columns=["g", "h"]), CountText(columns=["h"], labels=["no letter", "letters"], nothing=["u"])]
LABELS = ("none", "one area of medical speciality", "two or more areas of medical speciality")
BOOK = Codebook({"field": Variable(role="identifier", kind="text", missing=["refused"])})


def counted(*texts, **more):
    frame = pl.DataFrame({"field": texts}, schema={"field": pl.String})
    return run(CountText(columns=["field"], labels=LABELS, **more), frame, BOOK)


def test_entries_of_a_cell_are_counted():
    texts = ("cardiology", "ENT; surgery", "a;b;c;d", "; ;", "", "ENT;ent ; ", None, "refused", "None")
    ran = counted(*texts, nothing=["none"])
    none, one, more = LABELS
    assert ran.after.frame["field"].to_list() == [one, more, more, none, none, one, None, "refused", none]
    variable = ran.after.codebook["field"]
    assert (variable.role, variable.kind, variable.order) == ("key", "ordinal", (*LABELS, "refused"))
    assert ran.steps[0].notes == ("field: 7 records changed.",)
    assert ran.disclosure.sentences() == (f"field: recoded to the number of entries: {', '.join(LABELS)}.",)


def test_another_separator():
    assert counted("a, b", "a; b", separator=",").after.frame["field"].to_list() == [LABELS[2], LABELS[1]]


@pytest.mark.parametrize("labels", [["one"], ["one", "one"], ["none", " "]])
def test_labels_are_two_or_more_different_ones(labels):
    with pytest.raises(ValidationError, match="two or more different texts"):
        CountText(columns=["field"], labels=labels)


def test_what_holds_no_text_is_refused():
    step = CountText(columns=["field"], labels=["none", "refused"])
    assert "is one of its missing codes" in step.check(BOOK)[0]
    with pytest.raises(DataError, match="holds dates; count_text takes texts"):
        frame = pl.DataFrame({"field": ["2020-01-01"]}).select(pl.col("field").str.to_date())
        run(CountText(columns=["field"]), frame, BOOK)
