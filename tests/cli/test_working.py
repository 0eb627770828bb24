import io

import pytest
from rich.console import Console

from sfumato.cli import working as shown
from sfumato.cli.stopping import Stopping


def terminal(width=80):
    return Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)


def drawn(console, monkeypatch, long, *told):
    """What stands on a terminal at the end of work that is long or not."""
    monkeypatch.setattr(shown, "LONG", 0.0 if long else 1e9)
    with shown.working(console) as tell:
        assert Stopping.drawing
        for what, share in told:
            tell(what, share)
    assert not Stopping.drawing
    return console.file.getvalue()


def test_nothing_is_shown_off_a_terminal():
    console = Console(file=io.StringIO(), force_terminal=False)
    with shown.working(console) as tell:
        tell("measuring", 0.5)
    assert console.file.getvalue() == ""


def test_short_work_shows_what_is_done_and_long_work_how_much_of_it(monkeypatch):
    short = drawn(terminal(), monkeypatch, False, ("measuring linkage", 0.25))
    assert "measuring linkage" in short
    assert "%" not in short
    long = drawn(terminal(), monkeypatch, True, ("measuring linkage", 0.25))
    assert "25%" in long
    assert "left" in long


def test_the_share_never_goes_back_nor_beyond_all(monkeypatch):
    assert "50%" in drawn(terminal(), monkeypatch, True, ("a", 0.5), ("b", 0.25))
    assert "100%" in drawn(terminal(), monkeypatch, True, ("a", 1.5))


def test_long_words_leave_room_for_the_share(monkeypatch):
    text = drawn(terminal(), monkeypatch, True, ("x" * 200 + "[bold]", 0.5))
    assert "50%" in text
    assert "x…" in text


@pytest.mark.parametrize(
    ("elapsed", "share", "says"),
    [(30, 0, ""), (30, 0.5, "about 30 s left"), (600, 0.5, "about 10 min left"), (20_000, 0.5, "about 5.6 h left")],
)
def test_what_is_left(elapsed, share, says):
    assert shown.left(elapsed, share) == says
