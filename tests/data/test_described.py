from enum import StrEnum

from sfumato.data.described import Described


class Colour(StrEnum):
    """A colour.

    Examples
    --------
    >>> Colour("red")
    """

    RED = "red"


class Part(Described):
    """A part.

    Parameters
    ----------
    colour
        How it looks.
    """

    colour: Colour = Colour.RED


class Whole(Described):
    """A whole.

    Parameters
    ----------
    parts
        What it is made of.
    colour
        How most of it looks.
    """

    parts: tuple[Part, ...] = ()
    colour: Colour | None = None


def test_each_field_has_the_words_of_its_own_class():
    schema = Whole.json_schema()
    assert {name: part["description"] for name, part in schema["properties"].items()} == {
        "parts": "What it is made of.",
        "colour": "How most of it looks.",
    }
    part = schema["$defs"]["Part"]["properties"]["colour"]
    assert part["description"] == "How it looks."
    assert part["$ref"] == "#/$defs/Colour"


def test_descriptions_are_prose():
    schema = Whole.json_schema()
    assert (schema["description"], schema["$defs"]["Part"]["description"]) == ("A whole.", "A part.")
    assert schema["$defs"]["Colour"]["description"] == "A colour."
