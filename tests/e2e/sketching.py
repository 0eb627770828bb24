"""Pictures that are sketches: a process of a test calls `sketch` before it is the command line (see `command.sfumato`).

What a picture shows is worked out, and its words are written; nothing is drawn, for drawing takes most of writing a
small release. Drawing is tested in `tests/render`, and where a test lets the command line draw.
"""

from html import escape

from sfumato.render import plots


def sketch():
    """Every picture of this process is one from now on."""
    plots.draw = _sketched


def _sketched(picture, name):
    return tuple(
        plots.Panel(drawing.title, f"<svg><title>{escape(drawing.title)}</title>{escape(drawing.description)}</svg>")
        for drawing in plots._drawings(picture)
    )
