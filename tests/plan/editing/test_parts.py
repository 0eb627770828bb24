"""A mapping within a plan: other keys stay as they are written."""

from sfumato.data.yaml import load_yaml
from sfumato.plan.editing.parts import set_parts

BLOCK = """steps:
  - do: recode
    columns: [town]
    map:
      Leeds: North  # a big one
      # the south
      Bath: South
      10: Ten
  - {do: drop, columns: [id]}
"""
PATH = ["steps", 0, "map"]


def test_keys_in_lines_are_changed_one_by_one():
    new = set_parts(BLOCK, PATH, {"Leeds": "North", "Bath": "West", 10: "Ten", "York: 1": "North"})
    assert new == BLOCK.replace("Bath: South", "Bath: West").replace(
        "      10: Ten\n", '      10: Ten\n      "York: 1": North\n'
    )


def test_a_key_goes_with_its_comment():
    new = set_parts(BLOCK, PATH, {"Leeds": "North", 10: "Ten"})
    assert new == BLOCK.replace("      # the south\n      Bath: South\n", "")


def test_a_mapping_in_brackets_or_none_is_written_anew():
    text = "steps:\n  - {do: recode, columns: [town], map: {a: x}}  # why\nlimits: []\n"
    assert set_parts(text, PATH, {"b": "two"}) == text.replace("{a: x}", "{b: two}")
    text = "steps:\n  - {do: recode, columns: [town]}  # why\n"
    assert set_parts(text, PATH, {"b": "two"}) == text.replace("[town]", "[town], map: {b: two}")


def test_many_keys_at_once_mean_what_they_should():
    wanted = {f"v{i}": f"g{i % 3}" for i in range(200)}
    new = set_parts(BLOCK, PATH, wanted)
    assert load_yaml(new)[0]["steps"][0]["map"] == wanted
    assert new.endswith("  - {do: drop, columns: [id]}\n")
