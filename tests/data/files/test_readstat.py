import datetime
import resource

import polars as pl
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.codebook import Variable
from sfumato.data.files import readstat, write_table
from sfumato.data.files.readstat import SAS, SPSS, STATA, Clock, Names, file_labels, renamed, shortened
from sfumato.errors import FileError

from .tables import DATE, MILLISECONDS, table

EPOCHS = {SPSS: datetime.date(1582, 10, 14), SAS: datetime.date(1960, 1, 1), STATA: datetime.date(1960, 1, 1)}


@pytest.mark.parametrize("clock", EPOCHS, ids=["spss", "sas", "stata"])
@given(day=DATE, moment=MILLISECONDS)
def test_clocks_by_the_calendar_of_python(clock: Clock, day, moment):
    epoch = EPOCHS[clock]
    unit = {SPSS: 86_400, SAS: 1, STATA: 1}[clock]
    dates = pl.Series([day, None])
    assert clock.encode(dates).to_list() == [(day - epoch).days * unit, None]
    assert clock.decode(clock.encode(dates), "date").to_list() == [day, None]
    times = pl.Series([moment, None], dtype=pl.Datetime("us"))
    ms = (moment - datetime.datetime.combine(epoch, datetime.time())) // datetime.timedelta(milliseconds=1)
    assert clock.encode(times).to_list() == [ms if clock is STATA else ms / 1000, None]
    assert clock.decode(clock.encode(times), "datetime").to_list() == [moment, None]


def test_what_is_no_date():
    assert SPSS.decode(pl.Series([86_400.5]), "date") is None
    assert STATA.decode(pl.Series([1e300]), "date") is None
    assert STATA.decode(pl.Series([3_000_000.0]), "date") is None
    assert SAS.decode(pl.Series([86_400.0]), "time") is None
    assert SAS.decode(pl.Series([-1.0]), "time") is None
    assert SAS.decode(pl.Series([None], dtype=pl.Float64), "date").to_list() == [None]


def test_labels_as_a_file_holds_them():
    variable = Variable(
        labels={"1": "one", 2.0: "two", True: "yes", "x": "lost"}, missing=[{"code": -9, "label": "no"}]
    )
    assert file_labels(variable, pl.Int64(), SPSS) == ({-9: "no", 1: "yes", 2: "two"}, True)
    assert file_labels(variable, pl.String(), SPSS)[0]["x"] == "lost"
    assert file_labels(Variable(labels={"1960-01-03": "third"}), pl.Date(), STATA) == ({2.0: "third"}, False)


def test_the_label_of_a_value_goes_before_that_of_its_missing_code():
    variable = Variable(labels={-9: "refused"}, missing=[{"code": -9, "label": "no answer"}])
    assert file_labels(variable, pl.Int64(), SPSS)[0] == {-9: "refused"}


RULE = Names(first="[a-zA-Z]", rest="[a-zA-Z0-9_]", most=8, reserved="if|str\\d+")


NAMES = {"age": "age", "a b": "a_b", "1st": "v1st", "if": "if_", "IF": "IF_", "str12": "str12_", "_x": "v_x"}
NAMES |= {"größe": "gr__e", "abcdefghij": "abcdefgh", "a\nb": "a_b", "¼": "v_"}


@pytest.mark.parametrize(
    ("name", "fitted"),
    list(NAMES.items()),
)
def test_the_nearest_name(name, fitted):
    assert RULE.fitted(name) == fitted


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=6, unique=True))
def test_names_fit_and_are_different_or_refused(columns):
    try:
        names, notes = renamed(columns, RULE, ".x")
    except FileError:
        fitted = [RULE.fitted(c).lower() for c in columns]
        assert len(set(fitted)) < len(fitted)
    else:
        assert len({n.lower() for n in names.values()}) == len(columns)
        assert all(RULE.fitted(n) == n for n in names.values())
        assert bool(notes) == (list(names) != list(names.values()))


def test_labels_are_cut_between_characters():
    assert shortened({"a": "öö"}, 3, True, ".x")[0] == {"a": "ö"}
    assert shortened({"a": "öö", "b": None, "c": ""}, 3, False, ".x") == ({"a": "öö"}, ())


def test_a_file_that_declares_more_than_it_can_hold(tmp_path):
    """The reader reserves room for every row that the header declares."""
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(pl.DataFrame({"x": [1.0]}), path)
    data = bytearray(path.read_bytes())
    data[80:84] = (10**9).to_bytes(4, "little")  # The number of cases in the header.
    path.write_bytes(data)
    with pytest.raises(FileError, match="declares more"):
        readstat.load(pyreadstat.read_sav, path, "an SPSS file")


def test_duplicated_names_in_a_file(tmp_path):
    path = tmp_path / "a.dta"
    pyreadstat.write_dta(pl.DataFrame({"xa": [1.0], "xb": [2.0]}), path, version=14)
    path.write_bytes(path.read_bytes().replace(b"xb\0", b"xa\0"))
    with pytest.raises(FileError, match="duplicated column names"):
        readstat.load(pyreadstat.read_dta, path, "a Stata file")


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_no_failed_write_goes_unseen(tmp_path, suffix):
    """The library does not see a write that fails altogether, as on a disk that is full at the end of a record."""
    frame = pl.DataFrame({"x": [i / 7 for i in range(1000)], "y": [float(i) for i in range(1000)]})
    write_table(table(frame), tmp_path / f"whole{suffix}")
    size = (tmp_path / f"whole{suffix}").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for cut in range(1, 66):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size - 80 * cut - cut % 16, hard))
        try:
            with pytest.raises(FileError):
                write_table(table(frame), tmp_path / f"a{suffix}")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [entry.name for entry in tmp_path.iterdir()] == [f"whole{suffix}"]
