"""What a newcomer gets wrong: every command refuses in words, with the remedy, without a value, and writes nothing."""

import pytest
from tests.e2e.command import sfumato

FILES = {
    "firms.csv": "town,kind,turnover,minus\n"
    + "".join(f"{'abc'[i % 3]},{'xy'[i % 2]},{50171 + i * i % 17},{-i}\n" for i in range(20)),
    "t.csv": "sex,town,count\nTotal,Total,20\nf,Total,9\nm,Total,11\nTotal,a,12\nTotal,b,8\n"
    "f,a,7\nf,b,2\nm,a,5\nm,b,6\n",
    "not_additive.csv": "sex,count\nTotal,50171\nf,9\nm,11\n",
    "contradicting.csv": "town,count\nTotal,50171\nNorth,50171\nLeeds,50170\n",
    "negative.csv": "sex,count\nTotal,8\nf,50171\nm,-50163\n",
    "twice.csv": "sex,count\nTotal,20\nf,9\nf,9\nm,11\n",
    "status.csv": "sex,count,status\nTotal,20,s\nf,9,q\nm,11,s\n",
    "empty.csv": "",
    "names.csv": "sex,count\n",
    "total.csv": "sex,count\nTotal,50171\n",
    "text.csv": "sex,count\nTotal,20\nf,many\nm,11\n",
    "nan.csv": "sex,count\nTotal,20\nf,NaN\nm,11\n",
    "inf.csv": "sex,count\nTotal,inf\nf,inf\nm,11\n",
    "gap.csv": "sex,count\nTotal,20\nf,\nm,11\n",
    "comma.csv": "sex;count\nTotal;20,5\nf;9,5\nm;11\n",
    "no_code.csv": "sex,count\nTotal,20\n,9\nm,11\n",
    "short.csv": "sex,count\nTotal\nf,9\n",
    "quoted.csv": 'sex,count\n"Total,20\nf,9\n',
    "last.csv": "age,count,status\nTotal,20,s\nold,9,s\nyoung,11,s\n",
    "circle.csv": "code,parent\na,b\nb,a\n",
    "two_parents.csv": "code,parent\na,b\na,c\n",
    "other.csv": "code,parent\nq,p\n",
    "broken.hrc": "north\n@@a\n",
    "tree.csv": "code,parent\nLeeds,North\n",
    "three.hst": "f,9,u\n",
    "odd.hst": "f,a,q\n",
    "minus.hst": "f,a,pl,-1,2\n",
}
RULE = ("--rule", "n(3)")
BY = ("--by", "town,kind")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("bad")
    for name, text in FILES.items():
        (made / name).write_text(text)
    (made / "folder").mkdir()
    return made


REFUSED = [
    (("protect", "not_additive.csv", *RULE), ["not additive", "'sex'", "sex=Total", "--hierarchy", "--tolerance"]),
    (("audit", "not_additive.csv"), ["not additive", "--tolerance"]),
    (("protect", "not_additive.csv", *RULE, "--tolerance", "5"), ["not additive"]),
    (("protect", "contradicting.csv", *RULE, "--hierarchy", "town=tree.csv"), ["contradict", "town=", "--tolerance"]),
    (("protect", "negative.csv", *RULE), ["negative", "'count'"]),
    (("protect", "twice.csv", *RULE), ["twice", "one row"]),
    (("protect", "status.csv"), ["status.csv, line 3", "u, s, x, z and w"]),
    (("protect", "empty.csv", *RULE), ["empty.csv is empty"]),
    (("protect", "names.csv", *RULE), ["names.csv", "no cell"]),
    (("protect", "total.csv", *RULE), ["'sex'", "Total only"]),
    (("protect", "text.csv", *RULE), ["text.csv, line 3", "'count'", "no number"]),
    (("protect", "nan.csv", *RULE), ["nan.csv, line 3", "no number"]),
    (("protect", "inf.csv", *RULE), ["inf.csv, line 2", "no number"]),
    (("protect", "gap.csv", *RULE), ["'count'", "all its values", "--internal"]),
    (("protect", "comma.csv", *RULE), ["comma.csv, line 2", "--decimal ,"]),
    (("protect", "t.csv", *RULE, "--delimiter", ";"), ["no column 'count'"]),
    (("protect", "no_code.csv", *RULE), ["no_code.csv, line 3", "write Total"]),
    (("protect", "short.csv", *RULE), ["short.csv, line 2", "cells than columns"]),
    (("protect", "quoted.csv", *RULE), ["quoted.csv", "quoted"]),
    (("protect", "folder", *RULE), ["'folder'", "is no release"]),
    (("protect", "nowhere.csv", *RULE), ["does not exist"]),
    (("protect", "t.csv"), ["--rule", "n(3)", "p(10)"]),
    (("protect", "firms.csv", *BY), ["--rule", "n(3)"]),
    (("protect", "t.csv", "--rule", "p(10)"), ["rule p", "--by and --value", "'largest'", "n(3)"]),
    (("protect", "firms.csv", *BY, "--rule", "nk(2,85)"), ["rule nk", "--value"]),
    (("protect", "t.csv", *RULE, "--value", "turnover"), ["no column 'turnover'"]),
    (("protect", "t.csv", *RULE, "--cost", "count"), ["'contributors'"]),
    (("protect", "t.csv", *RULE, "--last", "last.csv"), ["Last period", "sex, town"]),
    (("protect", "t.csv", *RULE, "--prior", "three.hst"), ["a-priori", "'town'", "'sex', 'town'"]),
    (("protect", "t.csv", *RULE, "--prior", "odd.hst"), ["odd.hst, line 1"]),
    (("protect", "t.csv", *RULE, "--prior", "minus.hst"), ["minus.hst, line 1", "negative"]),
    (("protect", "t.csv", *RULE, "--prior", "none.hst"), ["does not exist"]),
    (("protect", "t.csv", *RULE, "--hierarchy", "twon=tree.csv"), ["'twon'", "sex, town"]),
    (("audit", "t.csv", "--hierarchy", "twon=tree.csv"), ["'twon'", "sex, town"]),
    (("protect", "firms.csv", *BY, *RULE, "--hierarchy", "twon=tree.csv"), ["'twon'"]),
    (("protect", "firms.csv", *BY, *RULE, "--hierarchy", "town=circle.csv"), ["circle.csv", "circle"]),
    (("protect", "firms.csv", *BY, *RULE, "--hierarchy", "town=two_parents.csv"), ["line 3", "second parent"]),
    (("protect", "firms.csv", *BY, *RULE, "--hierarchy", "town=other.csv"), ["'town'", "does not list"]),
    (("protect", "firms.csv", *BY, *RULE, "--hierarchy", "town=broken.hrc"), ["broken.hrc", "line 2"]),
    (("protect", "firms.csv", *BY, *RULE, "--hierarchy", "town=none.csv"), ["does not exist"]),
    (("protect", "firms.csv", *BY, *RULE, "--hierarchy", "town"), ["VARIABLE=FILE"]),
    (("protect", "firms.csv", *BY, *RULE, "--value", "nothing"), ["no variable 'nothing'"]),
    (("protect", "firms.csv", *BY, *RULE, "--value", "kind"), ["'kind'", "one part to play"]),
    (("protect", "firms.csv", "--by", "town,town", *RULE), ["'town'", "twice"]),
    (("protect", "firms.csv", "--by", "town>", *RULE), ["empty name"]),
    (("protect", "firms.csv", "--by", "twon", *RULE), ["'twon'", "town, kind"]),
    (("protect", "firms.csv", *BY, *RULE, "--count", "minus"), ["'minus'", "negative"]),
    (("protect", "firms.csv", *BY, *RULE, "--weight", "minus"), ["'minus'", "negative"]),
    (("protect", "firms.csv", *BY, *RULE, "--count", "turnover", "--weight", "turnover"), ["one of both"]),
    (("protect", "firms.csv", *BY, *RULE, "--contributors", "who"), ["no variable 'who'"]),
    (("protect", "t.csv", *RULE, "--method", "magic"), ["magic"]),
    (("build", "t.csv", "--by", "sex"), ["Total"]),
    (("build", "firms.csv"), ["--by"]),
    (("audit", "t.csv", "--value", "turnover"), ["no column 'turnover'"]),
]
RULES = [
    "n",
    "n(",
    "n(0)",
    "n(x)",
    "n(50171",
    "p(0)",
    "p(50171)",
    "q(3)",
    "n(3) n(4)",
    "nk(2)",
    "pq(50,10)",
    "",
    "n(3);",
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=lambda x: " ".join(x[:3]) if isinstance(x, tuple) else "")
def test_it_is_refused_in_words_without_a_value_and_nothing_is_written(folder, arguments, said):
    before = sorted(folder.iterdir())
    out = () if arguments[0] == "audit" else ("--out", "out.csv")
    internal = ("--internal", "internal.csv") if arguments[0] == "protect" else ()
    done = sfumato("table", *arguments, *out, *internal, cwd=folder)
    assert done.returncode == 2, done.stdout
    for word in said:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert "5017" not in done.stderr + done.stdout
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("rule", RULES)
def test_what_is_no_rule_is_refused_without_its_numbers(folder, rule):
    done = sfumato("table", "protect", "t.csv", "--rule", rule, "--out", "out.csv", cwd=folder)
    assert done.returncode == 2
    assert "n(3)" in done.stderr or "commas" in done.stderr or "and" in done.stderr
    assert "50171" not in done.stderr
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("out", ["t.csv", "nowhere/out.csv", "t.csv/out.csv"])
def test_where_nothing_can_be_written(folder, out):
    before = (folder / "t.csv").read_text()
    done = sfumato("table", "protect", "t.csv", *RULE, "--out", out, cwd=folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert (folder / "t.csv").read_text() == before


def test_a_cell_that_nothing_protects_is_named_with_the_reason(folder, tmp_path):
    (tmp_path / "z.csv").write_text("sex,count,status\nTotal,50171,z\nf,2,u\nm,50169,z\n")
    done = sfumato("table", "protect", "z.csv", *RULE, "--out", "out.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "sex=f" in done.stdout
    assert "must be published" in done.stdout
    assert "5016" not in done.stdout + done.stderr
    assert not (tmp_path / "out.csv").exists()
    assert sfumato("table", "protect", "z.csv", *RULE, "--out", "out.csv", "--force", cwd=tmp_path).returncode == 1
    assert (tmp_path / "out.csv").exists()


def test_nothing_to_protect_and_one_dimension(folder, tmp_path):
    (tmp_path / "one.csv").write_text("sex,count\nTotal,20\nf,9\nm,11\n")
    done = sfumato("table", "protect", "one.csv", *RULE, "--out", "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[2]) == (0, "3 cells: 0 unsafe, 0 hidden beside them.")
    (tmp_path / "two.csv").write_text("sex,count\nTotal,20\nf,2\nm,9\nx,9\n")
    done = sfumato("table", "protect", "two.csv", *RULE, "--out", "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[2]) == (0, "4 cells: 1 unsafe, 1 hidden beside them.")


def test_a_table_without_totals_says_that_totals_from_elsewhere_undo_it(tmp_path):
    (tmp_path / "inner.csv").write_text("sex,town,count\nf,a,7\nf,b,2\nm,a,5\nm,b,6\n")
    done = sfumato("table", "protect", "inner.csv", *RULE, "--out", "out.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "lists no totals" in done.stdout
    assert "f,b,,x,1,INF" in (tmp_path / "out.csv").read_text()
    assert sfumato("table", "audit", "out.csv", cwd=tmp_path).returncode == 0  # an interval without end is read again


def test_a_time_limit_gives_the_best_so_far_with_its_audit(folder):
    arguments = ("firms.csv", *BY, "--value", "turnover", "--rule", "n(4)", "--time-limit", "0")
    done = sfumato("table", "protect", *arguments, "--out", "limit.csv", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert '"exact": 0' in done.stdout


def test_an_audit_of_a_table_that_hides_nothing_says_so(folder):
    done = sfumato("table", "audit", "t.csv", cwd=folder)
    assert done.returncode == 0
    assert "No cell is hidden." in done.stdout


@pytest.mark.slow
def test_a_file_beside_a_folder_has_the_value_that_the_folder_tells(folder, tmp_path):
    arguments = (folder / "firms.csv", *BY, "--value", "turnover", "--rule", "n(4)")
    done = sfumato("table", "protect", *arguments, "--out", "release", "--internal", "judged.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = sfumato("table", "audit", "release", "--against", "judged.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_records_that_are_taken_for_a_table_are_told_to_name_the_variables(folder):
    done = sfumato("table", "protect", "firms.csv", *RULE, cwd=folder)
    assert done.returncode == 2
    assert "--value" in done.stderr
    assert "--by" in done.stderr
