import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError
from sfumato.measures.measuring import Measuring, Searching
from sfumato.measures.subject import Classes, Subject
from sfumato.release.special_records import refuse_place, write_special_records

FRAME = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [16, 20, 20, 20], "id": ["a", "b", "c", "d"]})


def subject(frame=FRAME, keys=("sex", "age"), **how):
    classes = (Classes("keys", keys),) if keys else ()
    return Subject(sf.read(frame), classes=classes, how=Measuring(**how))


def test_the_list_as_it_is_read_again(tmp_path):
    write_special_records(subject(special=Searching(), fraction=0.5), tmp_path / "out.csv", "id")
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "record,score,dis,keys"
    told = pl.read_csv(tmp_path / "out.csv")
    assert told.select("record", "score", "keys").rows() == [("a", 1, "age"), ("b", 1, "sex + age")]
    assert told["dis"].to_list() == pytest.approx([1 / 2] * 2)


def test_nobody_stands_out(tmp_path):
    write_special_records(subject(pl.concat([FRAME, FRAME])), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "record,score,dis,keys\n"


def test_nothing_is_written_where_nothing_can_be_listed(tmp_path):
    with pytest.raises(DataError, match="--keys"):
        write_special_records(subject(keys=()), tmp_path / "out.csv")
    with pytest.raises(DataError, match="'nix'"):
        write_special_records(subject(), tmp_path / "out.csv", "nix")
    assert not list(tmp_path.iterdir())


def test_where_it_may_not_lie(tmp_path):
    refuse_place(tmp_path / "out.csv")
    with pytest.raises(FileError, match="does not exist"):
        refuse_place(tmp_path / "nix" / "out.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "out.csv")
    with pytest.raises(FileError, match="symbolic link"):
        refuse_place(tmp_path / "link.csv")
    (tmp_path / "datapackage.json").write_text("{}")
    with pytest.raises(FileError, match="release folder"):
        refuse_place(tmp_path / "out.csv")
