from sfumato.data.aim import Aim
from sfumato.data.disclosure import Additive, Averaged, Disclosure, Misclassified, Swapped
from sfumato.measures.registry import figures
from sfumato.report.remedy import Methods

PARTS = (
    Additive(("a",), [[0.1]]),
    Averaged(columns=("a",), k=3, grouping="knn", rescaled=True, recentred=True, rounded=False, clipped=False),
    Misclassified("a", [[0.9, 0.1], [0.1, 0.9]]),
    Swapped(columns=("a",), window=0.05),
)


def test_every_aim_has_a_remedy_whatever_masked_the_columns():
    assert all(Methods(Disclosure([part])).remedy(aim, "a") for aim in Aim for part in PARTS)


def test_no_two_aims_are_one():
    assert len({aim.value for aim in Aim}) == len(Aim)


def test_every_figure_has_an_aim():
    assert all(isinstance(figure.aim, Aim) for figure in figures().values())
