import random

import pytest

from sfumato.data.yaml import load_yaml
from sfumato.plan.editing.written import flow


@pytest.mark.parametrize(
    "value",
    [
        1e16,
        1e-5,
        5e-324,
        1.7976931348623157e308,
        -0.5,
        10**30,
        "1e3",
        "0o7",
        "1_000",
        ".5",
        ".inf",
        "2020-01-01",
        "y",
        "NO",
    ],
)
def test_numbers_and_what_looks_like_them(value):
    assert load_yaml(f"a: {flow(value)}")[0] == {"a": value}
    assert load_yaml(f"- {flow([value, {'k': value}])}")[0] == [[value, {"k": value}]]


def test_every_kind_of_letter_comes_back():
    draw = random.Random(1)
    some = [chr(c) for c in (0, 7, 9, 10, 13, 27, 0x7F, 0x85, 0xA0, 0xAD, 0x2028, 0x202E, 0xFEFF, 0xFFFF, 0x1F600)]
    for _ in range(200):
        text = "".join(draw.choices([*some, *"ab :#-{}[],&*!|>'\"%@`?\\"], k=draw.randrange(6)))
        assert load_yaml(f"{{a: {flow(text)}, b: 1}}")[0] == {"a": text, "b": 1}
        assert load_yaml(f"{flow({text: 1})}\n")[0] == {text: 1}
        assert len(flow(text).splitlines()) == 1
