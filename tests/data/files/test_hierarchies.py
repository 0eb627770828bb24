"""Files of hierarchies, in three forms."""

import pytest

from sfumato.data.files.hierarchies import (
    hierarchy_of,
    hierarchy_text,
    mapping_text,
    read_folder,
    read_hierarchy,
    write_hierarchy,
)
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError, FileError

TOWN = Hierarchy((("Leeds", "Yorkshire", "North"), ("Durham", "North"), ("Bath", "Somerset", "South")))


def read(tmp_path, text, name="town.csv"):
    (tmp_path / name).write_text(text)
    return read_hierarchy(tmp_path / name)


@pytest.mark.parametrize(("name", "form"), [("a.csv", "parents"), ("a.hrc", "hrc"), ("b.hrc", "arx")])
def test_what_is_written_is_read(tmp_path, name, form):
    write_hierarchy(TOWN, tmp_path / name, form)
    assert sorted(read_hierarchy(tmp_path / name).paths) == sorted(TOWN.paths)


def test_the_form_of_arx_fills_levels_and_has_everything_on_top(tmp_path):
    text = hierarchy_text(TOWN)
    assert text.splitlines()[1] == "Durham;North;North;*"
    again = read(tmp_path, text)
    assert [again.level(i) for i in range(4)] == [TOWN.level(i) for i in range(4)]


@pytest.mark.parametrize("sign", [";", ",", "\t", "|"])
def test_delimiters(tmp_path, sign):
    assert read(tmp_path, f"a{sign}x{sign}*\nb{sign}y{sign}*\n").paths == (("a", "x"), ("b", "y"))


def test_lines_of_unequal_length_and_blank_ones(tmp_path):
    assert read(tmp_path, "a;x;1\n\nb;y\n").paths == (("a", "x", "1"), ("b", "y"))
    assert read(tmp_path, "a;x;1\nb;y;\n").paths == (("a", "x", "1"), ("b", "y"))


def test_parents_may_end_in_a_top_that_is_listed_or_not(tmp_path):
    for top in ("UK,\n", "UK,*\n", ""):
        found = read(tmp_path, f"Code,Parent\nLeeds,North\nNorth,UK\nBath,UK\n{top}")
        assert sorted(found.paths) == [("Bath", "UK"), ("Leeds", "North", "UK")]


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("a;;x;*\nb;y;x;*\n", "h.csv", "line 1 has a gap"),
        ("a;x\na;y\n", "h.csv", "lists a value twice"),
        ("a;x;1\nb;x;2\n", "h.csv", "two broader"),
        ("", "h.csv", "lists no value"),
        ("code,parent\na,b\na,c\n", "h.csv", "line 3 gives a code a second parent"),
        ("code,parent\na,b\nb,a\n", "h.csv", "circle"),
        ("code,parent\nx,y\ny,\na,b\nb,a\n", "h.csv", "circle"),
        ("code,parent\na,b\nc,\n", "h.csv", "line 2 has a parent that no line lists"),
        ("code,parent\na,b,c\n", "h.csv", "line 2 is no pair"),
        ("North\n@@Leeds\n", "h.hrc", "line 2 has a gap"),
        ('"a;x\n', "h.csv", "badly quoted"),
    ],
)
def test_what_is_no_hierarchy_is_refused_without_a_value(tmp_path, text, name, says):
    with pytest.raises(DataError, match=says) as refused:
        read(tmp_path, text, name)
    assert str(refused.value).startswith(name)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        read_hierarchy(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"caf\xe9;x\n")
    with pytest.raises(FileError, match="UTF-8"):
        read_hierarchy(tmp_path / "latin.csv")
    with pytest.raises(FileError, match="no folder"):
        read_folder(tmp_path / "none", ["age"])
    with pytest.raises(FileError, match=r"age\.csv"):
        read_folder(tmp_path, ["age"])


def test_one_name_for_two_categories_is_for_arx_alone(tmp_path):
    twice = Hierarchy((("a", "other", "x"), ("other", "more", "y")))
    assert read(tmp_path, hierarchy_text(twice)).paths == twice.paths
    for form in ("parents", "hrc"):
        with pytest.raises(DataError, match="One name"):
            hierarchy_text(twice, form)


def test_the_hierarchies_of_adult(shared_data):
    found = read_folder(shared_data / "adult" / "hierarchies", ["age", "sex", "education", "no-such-key"])
    assert {key: hierarchy.height for key, hierarchy in found.items()} == {"age": 4, "sex": 1, "education": 3}
    assert len(found["age"].leaves) == 100


@pytest.mark.parametrize("head", ["level 0;level 1", "Level-0;Level-1", "Level 0;level1", "value;group"])
def test_names_of_columns_are_no_value(head):
    text = f"{head}\nLeeds;North\nBath;South\n"
    named = head != "Level-0;Level-1"
    assert len(hierarchy_of(text, "town.csv").paths) == (2 if named else 3)


def test_a_gap_is_told_by_the_line_of_the_file():
    with pytest.raises(DataError, match=r"^town\.csv: line 3 has a gap"):
        hierarchy_of("value,group\nLeeds,North\nBath,,South\n", "town.csv")


def test_a_mapping_is_read_again():
    groups = {"a,b": "one", '"c"': "two", "<b>": "two"}
    assert hierarchy_of(mapping_text(groups), "m.csv").paths == tuple(groups.items())


def test_blanks_around_codes_never_matter(tmp_path):
    text = " A \n@ A1\n@ A2 \nB\n@B1 \n\n"
    assert read(tmp_path, text, "act.hrc").paths == (("A1", "A"), ("A2", "A"), ("B1", "B"))
    assert read(tmp_path, "A\n @ B\n @ @ deep\n", "two.hrc").paths == (("deep", "B", "A"),)


def test_a_file_of_tau_argus_reads_as_it_is(shared_data):
    tree = read_hierarchy(shared_data / "tables" / "tauargus_region2.hrc")
    above = {"Nr": "1 2 3", "Os": "4 5 6 7", "Ws": "8 9 10", "Zd": "11 12"}
    assert tree.paths == tuple((code, top) for top, codes in above.items() for code in codes.split())


def test_another_lead_lets_codes_begin_with_at(tmp_path):
    tree = Hierarchy((("@a", "@"), ("b", "@")))
    with pytest.raises(DataError, match="lead"):
        write_hierarchy(tree, tmp_path / "t.hrc")
    write_hierarchy(tree, tmp_path / "t.hrc", lead="->")
    assert (tmp_path / "t.hrc").read_text() == "@\n->@a\n->b\n"
    assert read_hierarchy(tmp_path / "t.hrc", lead="->").paths == tree.paths
    assert read_hierarchy(tmp_path / "t.hrc", lead="#").paths == (("@",), ("->@a",), ("->b",))


@pytest.mark.parametrize("lead", ["", " ", "@ "])
def test_a_lead_has_no_blanks(tmp_path, lead):
    (tmp_path / "t.hrc").write_text("A\n@B\n")
    with pytest.raises(DataError, match="lead"):
        read_hierarchy(tmp_path / "t.hrc", lead=lead)


def test_a_line_of_nothing_but_leads_is_refused(tmp_path):
    with pytest.raises(DataError, match="line 2 has no category"):
        read(tmp_path, "A\n@ \n", "t.hrc")
