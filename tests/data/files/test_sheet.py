import zipfile

import pytest
import xlsxwriter

from sfumato.data.files.sheet import Extent, extent_of, letters, refuse_far_cells
from sfumato.errors import FileError


@pytest.mark.parametrize(
    ("number", "text"), [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (703, "AAA"), (16_384, "XFD")]
)
def test_letters(number, text):
    assert letters(number) == text


def edited(path, change):
    """The workbook with its one sheet's XML changed."""
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("People & <co>")
    sheet.write_row(2, 1, ["id", "age"])
    sheet.write_row(3, 1, [1, 30])
    sheet.write_blank(9, 9, None, book.add_format({"bold": True}))
    sheet.merge_range(6, 1, 7, 2, "note")
    book.close()
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return path


SPACE = b'<worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
WAYS = {
    "as it is": lambda xml: xml,
    "no places": lambda xml: xml.replace(b' r="C3"', b"").replace(b' r="C4"', b"").replace(b' r="4"', b""),
    "single quotes": lambda xml: xml.replace(b'r="B3"', b"r='B3'"),
    "other order": lambda xml: xml.replace(b'<c r="B3" t="s">', b'<c t="s" r="B3">'),
    "an entity": lambda xml: xml.replace(b'r="C4"', b'r="&#67;4"'),
    "a prefix": lambda xml: xml.replace(b"<c ", b"<x:c ").replace(b"</c>", b"</x:c>").replace(b"<worksheet ", SPACE),
    "blanks": lambda xml: xml.replace(b"><v>", b"> \n <v>"),
}


@pytest.mark.parametrize("way", WAYS)
def test_where_the_cells_are(tmp_path, way):
    found = extent_of(edited(tmp_path / "a.xlsx", WAYS[way]), "People & <co>")
    assert found == Extent((3, 2, 7, 3), 5, ((7, 2, 8, 3),))


@pytest.mark.slow
def test_cells_on_both_sides_of_a_cut(tmp_path):
    """A sheet of several pieces gives the same as one that is parsed whole."""
    book = xlsxwriter.Workbook(tmp_path / "a.xlsx")
    sheet = book.add_worksheet("one")
    for i in range(30_000):
        sheet.write_row(i, 0, [i, 1.5, "x"])
    book.close()
    assert extent_of(tmp_path / "a.xlsx", "one") == Extent((1, 1, 30_000, 3), 90_000)


def test_far_cells(tmp_path):
    path = tmp_path / "a.xlsx"
    for box, cells in [((1, 1, 1_048_576, 16_384), 5), ((1, 1, 1_048_576, 40), 1000), ((1, 1, 30_000, 16_384), 9)]:
        with pytest.raises(FileError, match=f"{letters(box[3])}{box[2]}"):
            refuse_far_cells(Extent(box, cells), path, "one")
    for box, cells in [((1, 1, 1_048_576, 100), 10_000_000), ((1_000_000, 16_000, 1_000_100, 16_010), 9), (None, 0)]:
        refuse_far_cells(Extent(box, cells), path, "one")


def test_a_hidden_far_cell_is_found(tmp_path):
    far = lambda xml: xml.replace(b'r="C4"', b'r="&#88;FD1048576"')  # noqa: E731
    with pytest.raises(FileError, match="XFD1048576"):
        refuse_far_cells(extent_of(edited(tmp_path / "a.xlsx", far), "People & <co>"), tmp_path, "one")
