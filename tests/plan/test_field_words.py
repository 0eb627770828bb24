import pytest

from sfumato.errors import PlanError
from sfumato.methods.registry import methods
from sfumato.plan.field_words import _COMMANDS, _STEPS, command_meant, step_meant
from sfumato.plan.plan import Plan


def test_every_step_and_command_is_there():
    from sfumato.cli.app import command_line

    assert set(_STEPS) <= set(methods())
    commands = command_line().commands
    for command in _COMMANDS:
        first, *below = command.split()
        assert first in commands
        assert all(name in commands[first].commands for name in below)


@pytest.mark.parametrize("words", [_STEPS, _COMMANDS], ids=["steps", "commands"])
def test_a_word_means_one_thing_and_is_spelt_as_it_is_compared(words):
    spelt = [word for line in words.values() for word in line.split()]
    assert len(set(spelt)) == len(spelt)
    assert all(word.isalnum() and word.islower() for word in spelt)


@pytest.mark.parametrize(
    ("word", "step"),
    [
        ("microaggregation", "centroids"),
        ("localSuppression", "suppress_cells"),
        ("global-recode", "recode"),
        ("topBotCoding", "top_code"),
        ("rankSwap", "swap"),
        ("recordSwap", "swap_households"),
        ("addNoise", "noise"),
        ("k-anonymity", "anonymise"),
        ("syn", "synthesise"),
        ("recdoe", "recode"),
    ],
)
def test_a_plan_whose_step_has_another_name_is_told_ours(word, step):
    with pytest.raises(PlanError, match=f"line 3: step 1: `do` must name a method: .*. Did you mean '{step}'"):
        Plan.from_yaml(f"sfumato: 1\nsteps:\n  - {{do: {word}, columns: [age]}}\n")


def test_other_words_have_the_list_alone():
    assert step_meant("xyzzy", methods()) is None
    assert command_meant("protct", methods()) is None, "which is near to a command"
    with pytest.raises(PlanError, match="`do` must name a method: anonymise, "):
        Plan.from_yaml("sfumato: 1\nsteps:\n  - {do: xyzzy, columns: [age]}\n")


def test_a_method_that_is_not_there_is_not_named():
    assert step_meant("microaggregate", ["noise"]) is None
    assert command_meant("microaggregate", ["noise"]) is None
