"""Commands to paste: a shell reads them as they were typed."""

import shlex
from pathlib import Path

import pytest

from sfumato.cli.commands import command, next_plan, options
from sfumato.cli.options import Reading


def test_a_shell_reads_what_was_given():
    parts = command("protect", Path("my plan.yaml"), "a;b.csv", out="r'1", overwrite=True, force=False, w1=0, w2=None)
    read = shlex.split(" ".join(parts))
    assert read == ["sfumato", "protect", "my plan.yaml", "a;b.csv", "--out", "r'1", "--overwrite", "--w1", "0"]


def test_how_a_file_is_read_is_repeated_where_it_is_not_usual():
    assert options(**Reading().typed()) == ()
    assert options(**Reading(";", header=False, skip_rows=2, memory="4GB").typed()) == (
        "--delimiter ';'",
        "--skip-rows 2",
        "--memory 4GB",
        "--no-header",
    )


@pytest.mark.parametrize(
    ("plan", "following"), [("plan.yaml", "plan2.yaml"), ("a/plan9.yml", "a/plan10.yml"), ("7.yaml", "8.yaml")]
)
def test_the_next_plan_is_numbered(plan, following):
    assert next_plan(Path(plan)) == Path(following)
