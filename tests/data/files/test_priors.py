import pytest

from sfumato.data.files.priors import Prior, read_priors
from sfumato.errors import DataError, FileError


def test_lines(tmp_path):
    (tmp_path / "a.hst").write_text('"North";"f";p\n\n;m;s;\nNorth;Total;C;12.5\nNorth;m;pl;1;2\n')
    assert read_priors(tmp_path / "a.hst", 2) == [
        Prior(("North", "f"), status="z"),
        Prior(("Total", "m"), status="s"),
        Prior(("North", "Total"), cost=12.5),
        Prior(("North", "m"), levels=(1.0, 2.0)),
    ]


@pytest.mark.parametrize(
    "line", ["a,b", "a,b,q", "a,b,c", "a,b,c,-1", "a,b,c,much", "a,b,pl,1", "a,b,u,3", "a,b,pl,1,inf"]
)
def test_other_lines_are_refused(tmp_path, line):
    (tmp_path / "a.hst").write_text(f"a,b,u\n{line}\n")
    with pytest.raises(DataError, match=r"a\.hst, line 2"):
        read_priors(tmp_path / "a.hst", 2)


def test_no_file(tmp_path):
    with pytest.raises(FileError):
        read_priors(tmp_path / "a.hst", 2)


def test_what_tau_argus_reads_is_read(tmp_path):
    """`APriori.java` of tau-Argus: C or W is a cost, S, U and P a status, M and ML one that is hidden beside others."""
    (tmp_path / "a.hst").write_text("a;;W;7\nb;;ML\nc;Total;PL;1;2\nd;;S\ne;;P\nf;;M\n")
    found = read_priors(tmp_path / "a.hst", 2)
    assert [one.codes for one in found][:2] == [("a", "Total"), ("b", "Total")]
    assert [one.status for one in found] == [None, "x", None, "s", "z", "x"]
    assert (found[0].cost, found[2].levels) == (7.0, (1.0, 2.0))
