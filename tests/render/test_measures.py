"""What is said of measures in words, for the terminal and the reference."""

import io

import pytest
from rich.console import Console

from sfumato.measures.registry import figure, figures
from sfumato.render.measures import facts, show_measure, show_measures


def printed(write, *args):
    out = io.StringIO()
    write(*args, Console(file=out, width=100, force_terminal=False))
    return " ".join(out.getvalue().split())


@pytest.mark.parametrize("said", figures().values(), ids=figures())
def test_every_figure_has_its_facts(said):
    told = facts(said)
    assert list(told) == ["Figure", "Baseline", "Needs", "Published"]
    assert all(told.values())
    text = printed(show_measure, said)
    assert text.startswith(f"{said.name} {said.title}. {said.what[:20]}")
    assert all(" ".join(fact.split()) in text for fact in told.values())


def test_of_classes_one_group_will_do():
    assert facts(figure("k_anonymity"))["Needs"] == "a table; released keys, or strata of masking steps"
    assert facts(figure("t_equal"))["Needs"].endswith("strata of masking steps; categories that nobody must learn")


def test_all_on_one_screen():
    text = printed(show_measures)
    assert all(f" {said.name} {said.title} better when " in text for said in figures().values())
