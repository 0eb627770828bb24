"""Releases that are measured by a few measures."""

from contextlib import contextmanager

import pytest

from sfumato.release.protect import measure_run

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
        patched.setattr("sfumato.release.parted.measure.measure_run", few)
        yield
