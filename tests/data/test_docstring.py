import pytest

from sfumato.data.docstring import parameters, prose, summary


class Base:
    """A base.

    Parameters
    ----------
    low, high
        The ends.
    label : str, optional
        What it is
        called.

        A second paragraph.
    """


class Own(Base):
    """An own
    class. It has more.

    Further down.

    Parameters
    ----------
    label
        Its own word.

    Notes
    -----
    low
        Not a parameter here.
    """


def bare():
    pass


def test_an_entry_may_name_several_parameters_and_a_type():
    assert parameters(Base) == {
        "low": "The ends.",
        "high": "The ends.",
        "label": "What it is called. A second paragraph.",
    }


def test_a_class_says_what_its_bases_say_unless_it_has_its_own_word():
    assert parameters(Own) == {"low": "The ends.", "high": "The ends.", "label": "Its own word."}


def test_prose_ends_at_the_first_section():
    assert summary(Own) == "An own class. It has more."
    assert prose(Own.__doc__).endswith("Further down.")


@pytest.mark.parametrize("thing", [bare, None, 3])
def test_what_has_no_docstring_of_its_kind_says_nothing(thing):
    assert parameters(thing) == {}
