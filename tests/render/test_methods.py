import io

import pytest
from rich.console import Console

from sfumato.methods.registry import methods, methods_told
from sfumato.render.methods import show_method, show_methods


def printed(write, told):
    out = io.StringIO()
    write(told, Console(file=out, width=110, force_terminal=False))
    return out.getvalue()


@pytest.mark.parametrize("told", methods_told(), ids=list(methods()))
def test_every_parameter_of_a_method_is_shown_with_its_meaning(told):
    text = " ".join(printed(show_method, told).split())
    for name, part in told["parameters"]["properties"].items():
        if name != "do":
            assert part["description"].split(".")[0].split()[0] in text.partition(f" {name} ")[2]
    assert "Parameters" not in text


def test_the_list_says_which_methods_mask():
    told = [{"name": "a", "purpose": "One.", "masks": True}, {"name": "b", "purpose": "Two.", "masks": False}]
    assert [line.split() for line in printed(show_methods, told).splitlines()[2:4]] == [
        ["a", "yes", "One."],
        ["b", "no", "Two."],
    ]
