"""Guesses of values that were taken out."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.suppression import Emptied, Emptying
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.risk.suppressed_guess import MEASURE, NO_SINGLE_GAP, findings, guessed
from sfumato.methods.suppress_cells import SuppressCells
from sfumato.release.run import run_steps
from tests.parts import needs

SECRET = b"of these tests and of nothing else"


def emptied(before, k, by=(), **after):
    frame = pl.DataFrame(before)
    keys = tuple(n for n in frame.columns if n not in by)
    return Emptied(
        Emptying(keys, k, by), frame.select(keys), frame.with_columns(**{n: pl.Series(x) for n, x in after.items()})
    )


def test_a_value_that_enough_would_have_matched_is_ruled_out():
    """By hand: f and n is matched by three with the record itself, so the gap was y. The plain guess is n."""
    one = emptied({"sex": [*"fffmmmmm"], "ill": [*"nnynnnyy"]}, 3, ill=["n", "n", None, *"nnnyy"])
    (line,) = findings([one])
    assert (line.measure, line.attack, line.value, line.baseline) == ("suppressed_guess", "minimality", 1.0, 0.0)
    assert line.variable is line.group is None
    (line,) = findings([one, one])
    assert line.value == 1.0
    assert line.interval[0] > findings([one]).lines[0].interval[0]


def test_strata_are_apart():
    """One of the three that match f and n is in another town: within the town nothing is ruled out."""
    before = {"sex": [*"fffmmmmm"], "ill": [*"nnynnnyy"], "town": [*"abaaabaa"]}
    gap = {"ill": ["n", "n", None, *"nnnyy"]}
    (whole,) = findings([emptied({n: before[n] for n in ("sex", "ill")}, 3, **gap)])
    (apart,) = findings([emptied(before, 3, ("town",), **gap)])
    # Town a shows n three times and y twice, so that n is guessed, and y was true.
    assert (whole.value, apart.value) == (1.0, 0.0)


@pytest.mark.parametrize("gaps", [1, 2])
def test_gaps_that_were_there_before_are_not_guessed(gaps):
    frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [1.5, float("nan"), 1.5, None]})
    after = frame.with_columns(
        age=pl.Series([None, None, 1.5, None]), sex=pl.Series([None if gaps > 1 else "f", *"fmm"])
    )
    found = findings([Emptied(Emptying(("sex", "age"), 2), frame, after)])
    assert len(guessed(Emptied(Emptying(("sex", "age"), 2), frame, after)).rows) == 2 - gaps
    assert found.notes == (() if gaps == 1 else (NO_SINGLE_GAP,))
    assert (found.lines[0].value is None) == (gaps == 2)


def test_without_such_steps_there_is_no_line():
    assert not findings([])


def test_protect_measures_it_where_cells_go_and_only_there():
    frame = pl.DataFrame({"sex": [*"fffffmmmmm"] * 4, "ward": [*"aaaabbbbbc"] * 4, "x": range(40)})
    variables = {"sex": {"role": "key"}, "ward": {"role": "key"}}
    step = {"do": "suppress_cells", "keys": ["sex", "ward"], "k": 5}
    found = sf.protect(sf.Plan(variables=variables, steps=[step]), frame, secret=SECRET).report.findings
    assert found.of("suppressed_guess").value is not None
    other = {"do": "drop", "columns": ["x"]}
    assert not sf.protect(sf.Plan(variables=variables, steps=[other]), frame, secret=SECRET).report.findings.select(
        "suppressed_guess"
    )
    later = [step, {"do": "drop", "columns": ["ward"]}]
    found = sf.protect(sf.Plan(variables=variables, steps=later), frame, secret=SECRET).report.findings
    assert not found.select("suppressed_guess")
    assert any("took values out of sex and ward, and later steps changed ward:" in note for note in found.notes)


def test_it_says_what_it_found_and_complains_of_much_only():
    one = emptied({"sex": [*"fffmmmmm"], "ill": [*"nnynnnyy"]}, 3, ill=["n", "n", None, *"nnnyy"])
    found = findings([one])
    assert "guesses 100% of those right" in MEASURE.say(found, 1.0)
    assert len(MEASURE.complain(found, 1.0)) == 1
    assert MEASURE.say(findings([]), 1.0) is None
    assert MEASURE.complain(findings([]), 1.0) == ()


KEYS = [
    ("urbrur", "roof", "walls", "water", "sex"),
    ("urbrur", "roof", "walls", "relat", "sex"),
]


@needs("data")
@pytest.mark.parametrize("keys", KEYS)
def test_many_cells_of_a_survey_are_guessed(shared_data, keys):
    """Found of `testdata`, k = 3: a third right or more with the rule, hardly any by the mode of those that fit.

    The figure itself is that of the definition, each record held against each other.
    """
    frame = sf.read(shared_data / "sdcmicro" / "testdata.csv").frame.select(keys)
    step = SuppressCells(keys=keys, k=3)
    after = run_steps([step], PolarsDataset(frame, Codebook()), Draws(SECRET)).after.frame.select(keys)
    (line,) = findings([Emptied(step.empties, frame, after)])
    assert line.value >= 0.34
    assert line.baseline <= 0.025
    assert line.value == pytest.approx(by_comparing(frame.rows(), after.rows(), 3))


def by_comparing(before, after, k):
    shares = []
    for true, row in zip(before, after, strict=True):
        if row.count(None) != 1:
            continue
        j = row.index(None)
        fit = [r for r in after if all(a is None or b in (None, a) for b, a in zip(row, r, strict=True))]
        usual = [r[j] for r in after if r[j] is not None]
        left = [v for v in set(usual) if sum(r[j] in (None, v) for r in fit) < k]
        near = [r[j] for r in fit if r[j] is not None]
        pool = {v: usual.count(v) for v in left} or {v: near.count(v) for v in near}
        best = [v for v, n in pool.items() if n == max(pool.values())]
        shares.append((true[j] in best) / len(best))
    return sum(shares) / len(shares)
