"""Releases that are measured by a few measures, and reports whose pictures are sketches."""

from contextlib import contextmanager

import pytest

from sfumato.release.measured import measure_run
from sfumato.render import plots

FEW = {"mean", "delta", "unchanged", "interval_disclosure", "k_anonymity"}


@contextmanager
def measured_briefly(*others):
    """A release is measured by a few measures of values, pairs and classes, `others`, and those that its limits name.

    For tests that look at what is released, written or said: all measures together take longer than all else.
    """

    def few(plan, *given, only=None, **more):
        wanted = FEW | {*others} | {limit.measure for limit in plan.limits}
        return measure_run(plan, *given, only=wanted, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sfumato.release.protect.measure_run", few)
        patched.setattr("sfumato.release.large.measure_run", few)
        yield


@contextmanager
def sketched():
    """What a picture shows is worked out, and not drawn: drawing takes most of writing a small release.

    For tests that look at files, papers and words; pictures are tested in `tests/render` and `tests/report`.
    """

    def sketch(picture, name):
        return tuple(plots.Panel(drawing.title, "<svg></svg>") for drawing in plots._drawings(picture))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plots, "draw", sketch)
        yield
