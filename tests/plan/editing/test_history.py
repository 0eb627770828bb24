from hashlib import sha256

from sfumato.plan.editing.edits import set_value
from sfumato.plan.editing.history import History, etag


def test_thirty_edits_and_back_to_the_first_bytes():
    first = "sfumato: 1\r\ntitle: 'é'   # why\r\n"
    history = History(first)
    for i in range(30):
        history.write(set_value(history.text, ["title"], i))
    last = history.text
    while history.undo():
        pass
    assert history.text == first
    assert not history.can_undo
    while history.redo():
        pass
    assert history.text == last
    assert not history.can_redo


def test_a_new_text_ends_what_could_be_redone():
    history = History("a")
    history.write("b")
    history.undo()
    history.write("c")
    assert (history.text, history.can_redo, history.redo(), history.undo(), history.text) == (
        "c",
        False,
        False,
        True,
        "a",
    )


def test_the_same_text_again_is_no_change():
    history = History("a")
    history.write("a")
    assert not history.can_undo


def test_the_tag_is_of_all_bytes():
    history = History("a: é  # note")
    assert history.etag == etag(history.text) == f'"{sha256("a: é  # note".encode()).hexdigest()}"'
    assert history.etag != etag("a: é  # Note")
