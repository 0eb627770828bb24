"""Folders by their addresses: what is written is there whole or not at all, and libraries' words are not passed on."""

import os

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import fs

from sfumato.data.files.address import Place, local_folder, reached
from sfumato.errors import FileError


class Failing(fs.LocalFileSystem):
    """Fails where a file is given another name."""

    def move(self, old, new):
        raise pa.ArrowIOError("AWS said: cell 4711 in s3-secret")


def test_a_place_is_made_written_to_and_removed(tmp_path):
    place = Place.of(f"file://{tmp_path}/a%20b/")
    assert place.names() is None
    place.within("data-1").make()
    assert place.names() == {"data-1": True}
    place.put("plan.yaml", b"one")
    place.put("plan.yaml", b"two")
    assert (tmp_path / "a b" / "plan.yaml").read_bytes() == b"two"
    pl.DataFrame({"x": [1, 2]}).write_parquet(tmp_path / "a b" / "data-1" / "p.parquet")
    inside = place.within("data-1")
    assert (inside.rows("p.parquet"), inside.holds("p.parquet", 2), inside.holds("p.parquet", 3)) == (2, True, False)
    assert not inside.holds("q.parquet", 2)
    inside.rename("p.parquet", "q.parquet")
    assert inside.names() == {"q.parquet": False}
    place.remove("data-1")
    assert place.names() == {"plan.yaml": False}
    place.remove()
    assert os.listdir(tmp_path) == []
    place.remove()


def test_a_file_that_cannot_be_put_leaves_nothing_and_tells_nothing(tmp_path):
    place = Place(str(tmp_path), Failing(), str(tmp_path))
    with pytest.raises(FileError, match="cannot be written or looked into") as caught:
        place.put("a.txt", b"content")
    assert "4711" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert os.listdir(tmp_path) == []


def test_a_part_that_is_not_whole_is_named(tmp_path):
    (tmp_path / "p.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileError, match=r"'p\.parquet'"):
        Place.of(tmp_path).rows("p.parquet")


def test_addresses_are_those_of_file_systems():
    assert local_folder("release/a") == local_folder("release/a")
    assert local_folder("s3a://bucket/r") is None
    with pytest.raises(FileError, match="three slashes"):
        local_folder("file://host/r")
    with pytest.raises(FileError, match="nosuch://"):
        reached("nosuch://host/r")


@pytest.mark.parametrize("given", ["s3a://me:Secret77@bucket/r", "hdfs://me@host/r", "s3a://b/r?secret_key=Secret77"])
def test_an_address_with_a_user_is_refused_and_not_repeated(given):
    with pytest.raises(FileError, match="must not hold a user") as caught:
        reached(given)
    assert "Secret77" not in str(caught.value)
