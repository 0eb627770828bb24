"""What copies keep and tell, by method: the table "How good, and how risky" of `docs/methods/synthesise.md`.

`python -m benchmarks.synthetic_table` measures it on Adult and writes it between the marks of that page. Copies are
drawn from a keyed half of the people, whom the figures are about; the others are the control. Equal code gives equal
figures: the secret is the public one of the examples.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from tests.real_data import real_data

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.draws import PUBLIC, Purpose
from sfumato.measures.known import Known
from sfumato.measures.risk import inference, membership, replicated_uniques
from sfumato.measures.utility import table_ratio
from sfumato.methods.synthesise.copies import Synthesis

PAGE = Path(__file__).parent.parent / "docs" / "methods" / "synthesise.md"
START, END = "<!-- how good, and how risky -->", "<!-- end of it -->"
ORDER = (
    *("sex", "age", "race", "marital-status", "salary-class"),
    *("workclass", "occupation", "education", "native-country"),
)
TARGET = "occupation"
BOOK = Codebook({"age": Variable(kind="integer")})
HEAD = (
    "| how columns are drawn | tables of two columns beside chance: mean, largest | uniques that are there again "
    "| guesses of the occupation beyond what others leave (`inference`) | members told from others (`membership`) |"
)


@dataclass(frozen=True)
class Setting:
    """One line of the table.

    Parameters
    ----------
    says
        What it is called.
    min_leaf, smooth, parametric, copies
        As for the step.
    """

    says: str
    min_leaf: int = 5
    smooth: bool = False
    parametric: bool = False
    copies: int = 1


SETTINGS = (
    Setting("trees, five donors"),
    Setting("trees, `min_leaf: 10`", 10),
    Setting("trees, `min_leaf: 20`", 20),
    Setting("trees, `min_leaf: 20`, `smooth`", 20, smooth=True),
    Setting("trees, `min_leaf: 50`", 50),
    Setting("regressions", parametric=True),
    Setting("trees, five donors, five copies", copies=5),
    Setting("regressions, five copies", parametric=True, copies=5),
)


def halves(people: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A keyed half of the people, and the others."""
    units = np.arange(1, people.height + 1, dtype=np.uint64)
    inside = pl.Series(PUBLIC.words(units, Purpose("half"))[:, 0] < np.uint64(2**63))
    return people.filter(inside), people.filter(~inside)


def drawn(members: pl.DataFrame, setting: Setting) -> list[pl.DataFrame]:
    """Copies of the members by one setting."""
    own = frozenset(ORDER if setting.parametric else ())
    step = Synthesis("synthesise", ORDER, (), {}, setting.copies, setting.min_leaf, setting.smooth, False, (), "", own)
    units = np.arange(1, members.height + 1, dtype=np.uint64)
    return step.copied(members, BOOK, PUBLIC, units, units)


def line(says: str, members: pl.DataFrame, others: pl.DataFrame, copies: Sequence[pl.DataFrame]) -> str:
    """The figures of some copies."""
    tables = [table_ratio.findings(Pair(members, copy, BOOK)) for copy in copies]
    two_way = [[f.value or 0.0 for f in one if f.group == table_ratio.TWO_WAY and f.variable] for one in tables]
    keys = tuple(n for n in ORDER if n != TARGET)
    known = Known(members, pl.concat(copies), BOOK, keys, aligned=False, control=others)
    uniques = [replicated_uniques.findings(Known(members, copy, BOOK, keys, aligned=False)) for copy in copies]
    again = float(np.mean([one.of("replicated_uniques").value or 0.0 for one in uniques]))
    guessed = inference.findings(known, [TARGET]).of("inference", variable=TARGET, group="risk", attack=None)
    told = membership.findings(known).of("membership", group="auc", attack=None)
    beside = f"{np.mean(two_way):.2f}, {np.max(two_way):.1f}" if np.max(two_way) > 0 else "0, 0"
    return f"| {says} | {beside} | {again:.1%} | {guessed.value:.2f} | {told.value:.2f} |"


def table() -> str:
    """The whole table, in Markdown."""
    people = pl.read_csv(real_data() / "adult" / "adult.csv", separator=";").select(ORDER)
    members, others = halves(people)
    lines = [line(s.says, members, others, drawn(members, s)) for s in SETTINGS]
    lines.append(line("the data themselves", members, others, [members]))
    return "\n".join((HEAD, "|" + " --- |" * 5, *lines))


def main() -> int:
    """Write the table into its page."""
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(f"{before}{START}\n{table()}\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
