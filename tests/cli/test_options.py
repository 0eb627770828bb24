"""Reading options on every command that reads a file."""

import json

import pytest

from sfumato.cli.options import Reading

PLANTED = "Marrowby"
PEOPLE = [f"{1000 + i},{PLANTED}{i} Smith,{20 + i % 50},{'fm'[i % 2]}" for i in range(60)]
PLAN = """sfumato: 1
variables:
  c1: {role: record}
  c2: {role: identifier}
  c3: {role: key, kind: integer}
  c4: {role: key, kind: categorical}
steps:
  - {do: drop, columns: [c2]}
  - {do: centroids, columns: [c3], by: [c4], k: 5}
limits:
  - {measure: linkage_nearest, group: overall, at_most: 1}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("\n".join(PEOPLE) + "\n")
    (tmp_path / "report.csv").write_text("\n".join(["All; of us", "", *PEOPLE]) + "\n")
    (tmp_path / "named.csv").write_text("\n".join(["c1,c2,c3,c4", *PEOPLE]) + "\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "key").write_bytes(bytes(32))
    return tmp_path


@pytest.fixture
def sfumato(sfumato):
    def run(*arguments):
        done = sfumato(*arguments)
        return done.returncode, done.stdout, done.stderr

    return run


PROTECT = ("protect", "plan.yaml", "people.csv", "--out", "release", "--secret-file", "key", "--force")
TUNE = ("tune", "plan.yaml", "people.csv", "--parameter", "steps.1.k", "--range", "3:5", "--replications", "2")


@pytest.mark.parametrize(
    "command",
    [
        ("init", "people.csv", "--out", "new.yaml"),
        PROTECT,
        ("risk", "people.csv", "--by", "c4"),
        ("compare", "people.csv", "named.csv", "--record", "c1"),
        TUNE,
    ],
)
def test_a_file_without_names_is_refused_and_read_when_that_is_said(folder, sfumato, command):
    before = set(folder.iterdir())
    status, out, err = sfumato(*command)
    assert (status, out) == (2, "")
    assert "--no-header" in err
    assert PLANTED not in err
    assert set(folder.iterdir()) == before
    status, out, err = sfumato(*command, "--no-header")
    assert status == 0, err
    assert PLANTED not in err


def test_what_stands_above_the_table_is_skipped(folder, sfumato):
    status, out, _ = sfumato("init", "report.csv", "--skip-rows", "2", "--no-header", "--json")
    assert status == 0
    assert list(json.loads(out)["variables"]) == ["c1", "c2", "c3", "c4"]


@pytest.mark.parametrize(
    "command",
    [
        ("init", "blank.csv", "--out", "new.yaml"),
        tuple(x.replace("people", "blank") for x in PROTECT),
        ("risk", "blank.csv", "--by", "c4"),
        ("compare", "blank.csv", "named.csv", "--record", "c1"),
    ],
)
def test_a_column_with_a_blank_name_is_refused_and_called_by_its_place_when_that_is_said(folder, sfumato, command):
    (folder / "blank.csv").write_text("\n".join(["c1,c2,,c4", *PEOPLE]) + "\n")
    status, out, err = sfumato(*command)
    assert (status, out) == (2, "")
    assert "--name-blank" in err
    assert PLANTED not in err
    status, out, err = sfumato(*command, "--name-blank")
    assert status == 0, err
    if command[0] == "init":
        assert "c3:" in (folder / "new.yaml").read_text()
        assert "--name-blank" in out, "so that the command that is pasted reads the same"


def test_that_there_are_names_can_be_said(folder, sfumato):
    (folder / "wide.csv").write_text("1991,2004\n1990,2003\n1995,2001\n")
    assert sfumato("init", "wide.csv")[0] == 2
    status, out, _ = sfumato("init", "wide.csv", "--header", "--json")
    assert status == 0
    assert list(json.loads(out)["variables"]) == ["1991", "2004"]


@pytest.mark.slow
def test_a_release_is_read_as_it_was_written(folder, sfumato):
    """Options are for the file that came in: the release beside it has names, commas and no lines above."""
    how = ("--no-header", "--skip-rows", "2", "--delimiter", ",")
    protect = [*PROTECT, *how]
    protect[2] = "report.csv"
    assert sfumato(*protect)[0] == 0
    for command in (
        ("risk", "report.csv", "--protected", "release/data.csv", "--columns", "c3"),
        ("compare", "report.csv", "release/data.csv", "--plan", "plan.yaml"),
    ):
        status, _, err = sfumato(*command, *how)
        assert status == 0, err


def test_sheets_of_workbooks(folder, sfumato):
    """The sheet, what stands above the table and whether there are names hold for both files of a command."""
    import xlsxwriter

    for name in ("a.xlsx", "b.xlsx"):
        book = xlsxwriter.Workbook(folder / name)
        book.add_worksheet("cover").write_string(0, 0, PLANTED)
        sheet = book.add_worksheet("people")
        for i, line in enumerate(["Of all", *PEOPLE]):
            sheet.write_row(i, 0, [int(cell) if cell.isdigit() else cell for cell in line.split(",")])
        book.close()
    how = ("--sheet", "people", "--skip-rows", "1", "--no-header")
    status, out, err = sfumato("compare", "a.xlsx", "b.xlsx", "--record", "c1", "--json", *how)
    assert status == 0, err
    assert {f["variable"] for f in json.loads(out)["findings"]} >= {"c3"}
    status, _, err = sfumato("init", "a.xlsx", "--sheet", "nobody")
    assert status == 2
    assert "'cover', 'people'" in err
    assert PLANTED not in err


def test_what_is_said_of_a_file_is_what_the_studio_reads_it_by():
    from sfumato.web.studio.opening import HOW

    assert tuple(Reading(delimiter=";", memory="4GB").of_files()) == HOW


ODD = "a\u202egnp"
WRITTEN = "a\\u202Egnp"


@pytest.fixture
def odd(folder):
    rows = [f"{i % 47},{i * 7 % 61},{'pqr'[i % 3]},{'fm'[i % 2]}" for i in range(120)]
    (folder / "odd.csv").write_text("\n".join([f'{ODD},b\x07c,"x\ny",sex', *rows]) + "\n")
    return folder


def test_characters_in_names_that_are_not_seen_are_written_out_and_plans_read_them_back(odd, sfumato):
    status, *drafted = sfumato("init", "odd.csv", "--out", "odd.yaml")
    assert status == 0, drafted
    assert f"--keys $'{WRITTEN}," in drafted[0], "a command that Bash reads back"
    status, screen, notes = sfumato(
        *("protect", "odd.yaml", "odd.csv", "--out", "odd", "--secret-file", "key", "--force", "--verbose"),
        *("--internal-report", "internal.html"),
    )
    assert status == 0, notes
    status, _, error = sfumato("risk", "odd.csv", "--keys", "nobody")
    assert status == 2
    files = [(odd / name).read_text() for name in ("odd.yaml", "odd/report.html", "odd/plan.yaml", "internal.html")]
    for text in (notes, error, *files):
        assert WRITTEN in text
    for text in (*drafted, screen, notes, error, *files):
        assert not set("\u202e\x07") & set(text)
    assert next(iter(json.loads(sfumato("init", "odd.csv", "--roles", "odd.yaml", "--json")[1])["variables"])) == ODD
