import polars as pl
import pytest

import sfumato as sf
from sfumato.data.query import Counts
from sfumato.data.remembered import Remembered
from sfumato.errors import DataError
from sfumato.measures.subject import Classes, Subject

TABLE = pl.DataFrame({"sex": ["f", "m"], "age": [30, 40]})


def test_every_table_answers_a_question_once():
    subject = Subject(sf.read(TABLE), sf.read(TABLE), sf.read(TABLE))
    for data in (subject.after, subject.given, subject.before):
        assert isinstance(data, Remembered)
        assert data.ask(Counts(("sex",))) is data.ask(Counts(("sex",)))


def test_what_is_remembered_stays_so():
    first = Subject(sf.read(TABLE))
    assert Subject(first.after).after is first.after


def test_a_pair_that_is_not_there_is_refused_in_words():
    with pytest.raises(DataError, match="give the original and the protected one"):
        Subject(sf.read(TABLE)).two  # noqa: B018


def test_equal_columns_are_told_of_once_in_any_order():
    groups = (Classes("keys", ("sex", "age")), Classes("strata", ("age", "sex")), Classes("more", ("age",)))
    assert list(Subject(sf.read(TABLE), classes=groups).each_once()) == list(
        zip(groups, (False, True, False), strict=True)
    )


def test_one_bare_table_provides_itself_and_that_nothing_is_disclosed():
    assert Subject(sf.read(TABLE)).provides == {"table", "disclosure"}
