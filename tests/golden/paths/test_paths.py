"""Every plan does what was recorded: released values, figures, what is said, files. Only a change that is meant to
change them records them anew (`python -m tests.golden.paths.recording`), and says so in CHANGELOG.md."""

import pytest

from sfumato.measures.measuring import MOST
from sfumato.measures.registry import figures_in
from tests.golden.paths.plans import BY_DAY, names
from tests.golden.paths.recording import HERE, data_of, differing, happens, outcome, recorded


def each(by_day):
    return [pytest.param(name, marks=() if name in by_day else pytest.mark.slow) for name in names()]


def test_every_plan_is_recorded():
    assert {path.stem for path in HERE.glob("*.json")} == {name.replace(" ", "_") for name in names()}
    assert set(BY_DAY) <= set(names())


@pytest.mark.few(4)
@pytest.mark.parametrize("name", each(BY_DAY))
def test_in_parts(name):
    """As of a table that is too large to be looked at record by record."""
    assert differing(happens(name, "parts"), recorded(name)["parts"]) == []


@pytest.mark.parametrize("name", each(BY_DAY[-1:]))
def test_in_memory(name):
    assert differing(happens(name, "memory"), recorded(name)["memory"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_DAY[-4:])
def test_small_tables_in_parts_are_measured_as_in_memory(name):
    with data_of("parts") as data:
        told = outcome(name, data, MOST)
    memory = recorded(name)["memory"]
    same = ("findings", "refusals", "sentences", "refused")
    assert differing({part: told.get(part) for part in same}, {part: memory.get(part) for part in same}) == []


def test_a_difference_is_found():
    told = recorded("noise")["parts"]
    other = {**told, "findings": {**told["findings"], "k_anonymity": [[None] * 9]}}
    assert differing(told, told) == []
    assert len(differing(told, other)) >= 1
    assert differing({"x": 1.0}, {"x": 1 + 1e-8}) == ["/x: 1.0, 1.00000001"]
    assert differing({"x": None}, {"x": 0.0}) == ["/x: None, 0.0"]


def of(told, form):
    """The lines of the figures that have a form, by what they are of."""
    lines = [(figure, line) for figure, lines in told.get("findings", {}).items() for line in lines]
    return {(figure, *line[:4]): line[4:] for figure, line in lines if figure in figures_in(form)}


@pytest.mark.parametrize("name", names())
def test_what_sums_tell_of_parts_is_what_memory_tells(name):
    """Of every measure that says that it is `folded`; for the recordings are what is found."""
    memory, parts = (of(recorded(name)[way], "folded") for way in ("memory", "parts"))
    assert memory.keys() == parts.keys()
    assert differing(list(memory.values()), [parts[key] for key in memory]) == []
