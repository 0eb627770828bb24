"""What the failures of a run come to: those that fail it, and those that were bad luck and must be mended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["MOST_TRIED_AGAIN", "MOST_UNSTABLE", "Failure", "Verdict", "judge", "worth_trying_again"]

MOST_UNSTABLE = 3
"""More in one run are no bad luck: something leaks from test to test, or the machine is ill."""
MOST_TRIED_AGAIN = 20
"""With more failures none is tried again: something is broken."""


@dataclass(frozen=True)
class Failure:
    """A test that failed among others.

    Parameters
    ----------
    test
        Its node id.
    reason
        One line.
    kind
        `itself`, `timeout`, `killed` (its process) or `collect` (its file could not be read).
    once
        It may not fail even once.
    """

    test: str
    reason: str
    kind: str = "itself"
    once: bool = False


@dataclass(frozen=True)
class Verdict:
    """Tests and reasons: of those that fail the run, and of those that are unstable."""

    failed: tuple[tuple[str, str], ...]
    unstable: tuple[tuple[str, str], ...]


def worth_trying_again(failures: Sequence[Failure], added: Collection[str]) -> tuple[Failure, ...]:
    """Failures that passing alone could turn into bad luck."""
    if len(failures) > MOST_TRIED_AGAIN:
        return ()
    return tuple(f for f in failures if not _never_forgiven(f, added))


def judge(failures: Sequence[Failure], alone: Mapping[str, Sequence[bool]], added: Collection[str]) -> Verdict:
    """Tell what fails from what is unstable.

    Parameters
    ----------
    failures
        What failed.
    alone
        For each test that ran again, alone in new processes, whether it passed each time.
    added
        Files that the change adds: their tests have no past that speaks for them.
    """
    lucky = {f.test for f in worth_trying_again(failures, added) if alone.get(f.test) and all(alone[f.test])}
    many = len(lucky) > MOST_UNSTABLE
    failed = [(f.test, _why(f, added)) for f in failures if f.test not in lucky]
    unstable = [(f.test, f.reason) for f in failures if f.test in lucky]
    if many:
        more = f"one of more than {MOST_UNSTABLE} that fail beside others only"
        failed, unstable = [*failed, *((test, f"{reason} [{more}]") for test, reason in unstable)], []
    return Verdict(tuple(failed), tuple(unstable))


def _never_forgiven(failure: Failure, added: Collection[str]) -> bool:
    if failure.kind == "collect" or failure.test.partition("::")[0] in added:
        return True
    return failure.once and failure.kind == "itself"


def _why(failure: Failure, added: Collection[str]) -> str:
    if failure.once and failure.kind == "itself":
        return f"{failure.reason} [may not happen even once]"
    if failure.test.partition("::")[0] in added:
        return f"{failure.reason} [in a file that the change adds]"
    return failure.reason
