"""Showing how far long work is, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import Progress as Bar
from rich.progress import ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.text import Text

from sfumato.cli.stopping import Stopping
from sfumato.progress import Progress, quiet

__all__ = ["left", "working"]

LONG = 10.0
"""Seconds after which the share and the time left are shown; before, what is left is hardly known."""
_WIDTH, _BESIDE = 20, 50
"""Characters of the bar, and of all that stands beside the words."""


@contextmanager
def working(console: Console | None = None) -> Iterator[Progress]:
    """Show what is being done, and after ten seconds how much of it and for how long yet; silent off a terminal."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield quiet
        return
    columns = (SpinnerColumn(), _Share(), _Left(), TextColumn("{task.description}", markup=False))
    room = max(20, console.width - _BESIDE)
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def tell(what: str, share: float, /) -> None:
            done = max(bar.tasks[0].completed, min(share, 1.0))  # what was expected to be longer is no step back
            bar.update(task, description=what if len(what) <= room else f"{what[: room - 1]}…", completed=done)

        Stopping.drawing = True
        try:
            yield tell
        finally:
            Stopping.drawing = False


def left(elapsed: float, share: float) -> str:
    """Say how long work will take yet, from how long a share of it took.

    Examples
    --------
    >>> left(30, 0.25), left(600, 0.5), left(20_000, 0.5), left(30, 0.0)
    ('about 90 s left', 'about 10 min left', 'about 5.6 h left', '')
    """
    if share <= 0:
        return ""
    seconds = elapsed * (1 - share) / share
    if seconds < 100:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / 60:.0f} min left" if seconds < 6000 else f"about {seconds / 3600:.1f} h left"


class _Share(ProgressColumn):
    """A bar, once the work is long."""

    def render(self, task: Task) -> RenderableType:
        long = (task.elapsed or 0.0) >= LONG
        return ProgressBar(total=1.0, completed=task.completed, width=_WIDTH) if long else Text("")


class _Left(ProgressColumn):
    """How long it has taken; once that is long, which share is done and how long it will take yet."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        if elapsed < LONG:
            return Text(f"{elapsed:.0f} s")
        return Text(f"{task.completed:4.0%}  {left(elapsed, task.completed)}")
