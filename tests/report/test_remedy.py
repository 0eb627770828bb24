"""Remedies in the words of the method that was used."""

from __future__ import annotations

import pytest

from sfumato.data.aim import Aim
from sfumato.data.disclosure import Additive, Averaged, Disclosure, Misclassified, Sampled, Swapped, Synthetic
from sfumato.data.error_model import Growth
from sfumato.report.remedy import Methods, sampled
from sfumato.report.report import StepDone

NOISE = Additive(("bmi",), [[0.1]])
CLIPPED = Additive(("age",), [[0.1]], bounds={"age": (0, 100)})
ROUNDED = Additive(("inc",), [[0.1]], rounded={"inc": 10.0})
GROWN = Additive(("bmi",), [[0.1]], grows={"bmi": Growth(centre=0, scale=1, beyond=2)})
PRAM = Misclassified("code", [[0.9, 0.1], [0.1, 0.9]])
SYNTHETIC = Synthetic(columns=("sex", "age"), kind="full", copies=5)
SWAP = Swapped(columns=("wage",), window=0.05)
CENTROIDS = Averaged(columns=("age",), k=3, grouping="knn", rescaled=True, recentred=True, rounded=False, clipped=False)


@pytest.mark.parametrize("aim", list(Aim))
@pytest.mark.parametrize(
    ("part", "foreign"),
    [
        (CENTROIDS, ("noise", "`retention`", "`window`", "`grow")),
        (PRAM, ("noise", "`clip` out", "`k`", "`window`", "`grow", "`distinct")),
        (SWAP, ("noise", "`clip` out", "`k`", "`retention`", "`grow", "`distinct")),
        (SYNTHETIC, ("noise", "`clip` out", "`k`", "`retention`", "`window`", "`grow", "`distinct")),
        (NOISE, ("`clip` out", "`k`", "`retention`", "`window`", "`distinct")),
    ],
)
def test_no_remedy_names_what_the_method_does_not_have(part, foreign, aim):
    said = Methods(Disclosure([part])).remedy(aim, part.columns[0])
    assert said
    assert not [word for word in foreign if word in said]


def test_each_column_gets_the_words_of_its_own_step():
    methods = Methods(Disclosure([CLIPPED, ROUNDED, NOISE, PRAM, SWAP]))
    assert "leave `clip` out" in methods.remedy(Aim.KEPT, "age")
    assert "`round_to`" in methods.remedy(Aim.KEPT, "inc")
    assert methods.remedy(Aim.KEPT, "bmi").startswith("add more noise")
    assert "`retention`" in methods.remedy(Aim.KEPT, "code")
    assert "`window`" in methods.remedy(Aim.FURTHER, "wage")
    assert "noise" in methods.remedy(Aim.FURTHER)  # what speaks of no column is of the main method


def test_noise_that_grows_already_is_not_told_to_grow():
    assert "grow: 2" in Methods(Disclosure([NOISE])).remedy(Aim.APART)
    said = Methods(Disclosure([GROWN])).remedy(Aim.APART)
    assert "grow: 2" not in said
    assert "smaller `grow`" in said


def test_one_copy_cannot_be_fewer_copies():
    one = SYNTHETIC.model_copy(update={"copies": 1})
    assert "fewer copies" in Methods(Disclosure([SYNTHETIC])).remedy(Aim.FURTHER)
    assert "fewer copies" not in Methods(Disclosure([one])).remedy(Aim.FURTHER)
    assert "`min_leaf`" in Methods(Disclosure([SYNTHETIC, NOISE])).remedy(Aim.TABLES)
    filled = SYNTHETIC.model_copy(update={"kind": "missing"})
    assert "noise" in Methods(Disclosure([filled, NOISE])).remedy(Aim.FURTHER)


def test_without_a_disclosure_the_guess_is_taken():
    assert "`k`" in Methods(None).remedy(Aim.FURTHER)
    assert "noise" in Methods(None, "additive").remedy(Aim.FURTHER)


def test_samples_of_samples_multiply():
    both = Disclosure([Sampled(fraction=0.5), NOISE, Sampled(fraction=0.1, by=("g",))])
    assert sampled(both) == pytest.approx(0.05, rel=1e-12)
    assert sampled(Disclosure([NOISE])) == 1


STEPS = (
    StepDone("recode", False, "", parameters={"column": "sex"}),
    StepDone("noise", True, "", parameters={"columns": ("bmi",), "share": {"bmi": 0.1}, "sd": None, "grow": None}),
    StepDone("centroids", True, "", parameters={"columns": ("age",), "k": 3, "grouping": "knn", "blur": 0.0}),
)


def test_a_change_that_an_edit_can_make_says_where_and_to_what():
    methods = Methods(Disclosure([NOISE, CENTROIDS]), steps=STEPS)
    assert [(e.path, e.value) for e in methods.edits(Aim.FURTHER, "bmi")] == [(("steps", 1, "share", "bmi"), 0.15)]
    assert [(e.path, e.value) for e in methods.edits(Aim.FURTHER, "age")] == [
        (("steps", 2, "grouping"), "mdav"),
        (("steps", 2, "k"), 5),
    ]
    assert [(e.path, e.value) for e in methods.edits(Aim.APART, "bmi")] == [(("steps", 1, "grow"), 2)]
    assert all(e.text in methods.remedy(aim, "age") for aim in Aim for e in methods.edits(aim, "age"))


def test_a_change_that_moves_nothing_is_no_edit():
    k = StepDone("centroids", True, "", parameters={"columns": ("age",), "k": 1})
    assert Methods(Disclosure([CENTROIDS]), steps=(k,)).edits(Aim.GENTLER, "age") == ()


def test_without_the_steps_nothing_can_be_edited():
    assert all(Methods(Disclosure([NOISE])).edits(aim, "bmi") == () for aim in Aim)
