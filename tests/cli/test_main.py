import pytest

from sfumato.cli import EXIT, STOPPED


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--cap", "x"), "Invalid value for '--cap': a whole number is needed here, not 'x'"),
        (("--cap", "3"), "Invalid value for '--cap': a number of at least 10 is needed here, not '3'"),
        (("--w1", "wide"), "Invalid value for '--w1': a number is needed here, not 'wide'"),
        (("--align", "any"), "Invalid value for '--align': 'any' is not one of 'row-order'"),
        (("--metric", "x"), "is not one of 'euclidean', 'scaled', 'mahalanobis'"),
    ],
)
def test_options_that_make_no_sense(sfumato, arguments, says):
    done = sfumato("risk", "data.csv", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Value error" not in done.stderr


def test_an_interruption_that_no_signal_handler_saw_is_one_line_too(sfumato, monkeypatch):
    """As on Windows, and where a library raises it."""
    monkeypatch.setattr("sfumato.cli.talk.write_out", _interrupted)
    done = sfumato("schema")
    assert (done.returncode, done.stderr) == (EXIT, f"{STOPPED}\n")


def _interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("microaggregate", "sfumato methods centroids"),
        ("suppress", "sfumato methods suppress_cells"),
        ("local-suppression", "sfumato methods suppress_cells"),
        ("k-anonymity", "'sfumato anonymise'"),
        ("pram", "sfumato methods pram"),
        ("protct", "'protect'"),
    ],
)
def test_words_of_the_field_are_told_ours(sfumato, word, ours):
    done = sfumato(word, "people.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean" in done.stderr
    assert ours in done.stderr


def test_methods_by_a_word_of_the_field(sfumato):
    assert "did you mean 'centroids'?" in " ".join(sfumato("methods", "microaggregation").stderr.split())
