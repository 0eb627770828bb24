"""What a file says of itself (label, notes, documents) stays behind; the released file is called as the plan is."""

import polars as pl
import pyreadstat
import pytest

import sfumato as sf
from sfumato.plan.plan import Plan

PLANTED = "PLANTED ward seven"
READERS = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}
WRITERS = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}
_CHARACTERISTIC = 33 + 33
"""In the files of Stata 8 to 12, names of the variable and of the characteristic stand before its text."""


def planted(folder, suffix):
    """A file that says something of itself in each way that its format has and its writer knows."""
    path = folder / f"given{suffix}"
    frame = pl.DataFrame({"sex": [1.0, 2.0] * 30, "age": [float(20 + i % 5) for i in range(60)]})
    more = {".sav": {"note": f"{PLANTED} document"}, ".dta": {"version": 12}, ".xpt": {"table_name": "PLANTED"}}
    WRITERS[suffix](
        frame,
        path,
        file_label=PLANTED,
        column_labels={"sex": "Sex of the person"},
        **({"variable_value_labels": {"sex": {1: "man", 2: "woman"}}} if suffix != ".xpt" else {}),
        **more[suffix],
    )
    if suffix == ".dta":
        _with_note(path)
    return path


def _with_note(path):
    """Put a note of the data set, which is a characteristic `note1` of `_dta`, where there is none yet."""
    whole = path.read_bytes()
    text = f"{PLANTED} note".encode() + b"\0"
    name = b"_dta".ljust(33, b"\0") + b"note1".ljust(33, b"\0")
    entry = b"\1" + (_CHARACTERISTIC + len(text)).to_bytes(4, "little") + name + text
    labels = whole.index(b"Sex of the person")  # the last block before the characteristics, 81 bytes each
    at = labels + 2 * 81
    assert whole[at : at + 5] == bytes(5)
    path.write_bytes(whole[:at] + entry + whole[at:])


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
@pytest.mark.usefixtures("few_measures")
def test_what_a_file_says_of_itself_stays_behind(tmp_path, suffix):
    given = planted(tmp_path, suffix)
    _, meta = READERS[suffix](given)
    assert meta.file_label == PLANTED
    assert suffix == ".xpt" or any(PLANTED in note for note in meta.notes)
    plan = Plan(
        title="Trial release",
        variables={"sex": {"role": "key"}, "age": {"role": "key"}},
        steps=[{"do": "suppress_cells", "keys": ["sex", "age"], "k": 3}],
    )
    release = sf.protect(plan, given, secret=b"of the tests, for nothing else")
    release.write(tmp_path / "out", force=True)
    for path in (tmp_path / "out").rglob("*"):
        assert b"PLANTED" not in path.read_bytes(), path.name
    _, told = READERS[suffix](tmp_path / "out" / f"data{suffix}")
    assert told.file_label == "Trial release"
    assert not told.notes
    assert told.column_names_to_labels["sex"] == "Sex of the person"
    if suffix != ".xpt":
        assert told.variable_value_labels["sex"] == {1: "man", 2: "woman"}
