import pytest

from tests.running.verdict import MOST_TRIED_AGAIN, Failure, judge, worth_trying_again


def named(n, **more):
    return [Failure(f"tests/a/test_x.py::test_{i}", "assert 1 == 2", **more) for i in range(n)]


def alone(failures, *passed):
    return {f.test: list(passed or (True, True)) for f in failures}


def test_what_fails_once_more_failed():
    failures = named(1)
    verdict = judge(failures, alone(failures, True, False), ())
    assert verdict.failed == (("tests/a/test_x.py::test_0", "assert 1 == 2"),)
    assert verdict.unstable == ()


def test_what_passes_both_times_alone_is_unstable():
    failures = named(1)
    verdict = judge(failures, alone(failures), ())
    assert verdict.failed == ()
    assert verdict.unstable == (("tests/a/test_x.py::test_0", "assert 1 == 2"),)


@pytest.mark.parametrize(("kind", "forgiven"), [("itself", False), ("timeout", True), ("killed", True)])
def test_what_may_not_happen_even_once_is_forgiven_time_and_its_process_alone(kind, forgiven):
    failures = named(1, kind=kind, once=True)
    assert bool(worth_trying_again(failures, ())) is forgiven
    verdict = judge(failures, alone(failures), ())
    assert bool(verdict.unstable) is forgiven
    assert bool(verdict.failed) is not forgiven


def test_tests_in_files_that_the_change_adds_are_not_forgiven():
    failures = named(1)
    verdict = judge(failures, alone(failures), {"tests/a/test_x.py"})
    assert not verdict.unstable
    assert "a file that the change adds" in verdict.failed[0][1]


def test_a_file_that_cannot_be_collected_is_not_forgiven():
    failures = [Failure("tests/a/test_x.py", "ImportError", "collect")]
    assert judge(failures, alone(failures), ()).failed


@pytest.mark.parametrize("n", [3, 4])
def test_more_than_three_are_no_bad_luck(n):
    failures = named(n)
    verdict = judge(failures, alone(failures), ())
    assert (len(verdict.failed), len(verdict.unstable)) == ((0, 3) if n == 3 else (4, 0))


@pytest.mark.parametrize("n", [20, 21])
def test_above_twenty_nothing_is_tried_again(n):
    assert len(worth_trying_again(named(n), ())) == (n if n <= MOST_TRIED_AGAIN else 0)


def test_a_test_that_was_not_tried_again_failed():
    assert len(judge(named(1), {}, ()).failed) == 1
