import pytest

from sfumato.data.finding import Finding, Findings
from sfumato.measures.utility.told_apart import told_apart


def said(*lines, names=("u_interactions", "u_main"), unless="u_trees"):
    return told_apart(*names, unless=unless)(Findings(lines), 1.0)


@pytest.mark.parametrize(
    ("u", "could"), [(0.2, "clearly could"), (0.02, "could to some extent"), (0.0004, "hardly could")]
)
def test_u_is_a_share_of_what_certainty_scores(u, could):
    """U of tables that can be told apart with certainty, of equal sizes, is (1 − 1/2)² = 1/4."""
    text = said(Finding("u_main", value=u))
    assert f"{could}: it scored {u:g}" in text


def test_the_sharpest_model_is_spoken_of():
    assert "0.2," in said(Finding("u_main", value=0.01), Finding("u_interactions", value=0.2))
    assert said(Finding("u_main", value=0.01), Finding("u_trees", value=0.2)) is None
    assert said(Finding("u_main", value=0.01), Finding("u_trees")) is not None


def test_nothing_is_said_of_nothing():
    assert said() is said(Finding("u_main")) is None
