"""What is measured of a release as a whole: who attacks what, and what the notes say."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.data.pair import Pair
from sfumato.measures.attacking import Attacking
from sfumato.measures.measuring import Measuring
from sfumato.measures.registry import measures
from sfumato.measures.subject import Classes, Subject
from sfumato.progress import quiet
from sfumato.release.measure import NO_CLASSES, NO_NUMBERS, measure, sensitive_categories

N = 400
RNG = np.random.default_rng(61)
BEFORE = pl.DataFrame({"x": RNG.standard_normal(N), "sex": RNG.integers(0, 2, N), "region": RNG.choice(["n", "s"], N)})


def drawn():
    """The same draws for each test, in whatever order they run."""
    return np.random.default_rng(7)


def measured(after, columns, by, told, book=None):
    pair = Pair(BEFORE, after, book or Codebook(), columns, by, aligned=True)
    sensitive = sensitive_categories(Codebook() if book is None else book)
    return measure(Subject(sf.read(after), pair=pair, sensitive=sensitive, disclosure=told), quiet, "risk")


def test_sensitive_is_what_is_said_to_be_whatever_its_role():
    roles = {"a": "key", "b": "other", "c": "outcome", "d": "sensitive"}
    said = Codebook({n: Variable(role=role, sensitive=n in "ab", kind="categorical") for n, role in roles.items()})
    assert sensitive_categories(said) == ("a", "b", "c", "d")
    assert sensitive_categories(said.replace(b=Variable(kind="categorical"))) == ("a", "c", "d")


def test_indicators_alone_are_attacked():
    names = ("region=n", "region=s")
    noisy = np.column_stack([(BEFORE["region"] == v).cast(pl.Float64).to_numpy() for v in "ns"])
    noisy = noisy + 0.5 * drawn().standard_normal((N, 2))
    after = BEFORE.drop("region").with_columns(pl.Series(n, noisy[:, j]) for j, n in enumerate(names))
    told = Disclosure([Additive(names, 0.25 * np.eye(2), values=(0, 1), indicators_of="region")])
    found = measured(after, (), (), told)
    assert found.of("h_rank", group="all", at=0, attack="worst").value > 0
    assert {f.variable for f in found.select("attribute_posterior")} == set(names)
    assert not [n for n in found.notes if n.startswith("No attack")]


def test_exchanged_texts_alone_are_no_numbers_to_attack():
    told = Disclosure([Misclassified("region", [[0.9, 0.1], [0.1, 0.9]], ("n", "s"))])
    found = measured(BEFORE, (), (), told)
    assert not found.select("h_rank")
    assert found.of("attribute_posterior", variable="region").value == 1
    assert found.notes == (NO_CLASSES, NO_NUMBERS)


@pytest.mark.parametrize("masked", ["noise", "exchange"])
def test_strata_that_were_released_at_random_are_not_known_to_attackers(masked):
    """Were they, every record with its own released stratum would be found: h = 1 throughout."""
    noise = 0.3 * drawn().standard_normal((N, 2))
    sex = (
        BEFORE["sex"] + noise[:, 1]
        if masked == "noise"
        else pl.Series("sex", drawn().permutation(BEFORE["sex"].to_numpy()))
    )
    after = BEFORE.with_columns(pl.col("x") + noise[:, 0], sex.alias("sex"))
    second = (
        Additive(("sex",), [[0.09]], values=(0, 1))
        if masked == "noise"
        else Misclassified("sex", np.full((2, 2), 0.5), (0, 1))
    )
    told = Disclosure([Additive(("x",), [[0.09]]), second])
    found, without = (measured(after, ("x",), by, told) for by in (("sex",), ()))
    lines = [[(f.measure, f.group, f.at, f.attack, f.value) for f in lot.select("h_rank")] for lot in (found, without)]
    assert lines[0] == lines[1]
    assert found.of("h_rank", group="all", at=0, attack="worst").value < 0.5
    assert [n for n in found.notes if n.startswith("sex: released strata do not follow from true ones")]
    assert not [n for n in without.notes if "strata" in n]


def test_strata_that_stayed_are_known():
    after = BEFORE.with_columns(pl.col("x") + 0.3 * drawn().standard_normal(N))
    told = Disclosure([Additive(("x",), [[0.09]])])
    known, unknown = (measured(after, ("x",), by, told) for by in (("sex", "region"), ()))
    best = [f.of("h_rank", group="all", at=0, attack="worst").value for f in (known, unknown)]
    assert best[0] > 2 * best[1]
    assert not [n for n in known.notes if "strata" in n]


def test_households_are_attacked_without_being_asked_for():
    before = BEFORE.with_columns(pl.Series("hh", np.arange(N) // 2))
    noise = np.repeat(drawn().standard_normal(N // 2), 2)
    after = before.with_columns(pl.col("x") + noise)
    book = Codebook({"hh": Variable(role="household")})
    told = Disclosure([Additive(("x",), [[1.0]], draw_by="household")])
    pair = Pair(before, after, book, ("x",), aligned=True)
    found = measure(Subject(sf.read(after), pair=pair, disclosure=told), quiet, "risk")
    assert found.of("h_rank", group="all", at=0, attack="worst").value == 1
    assert found.of("h_rank", group="all", at=0, attack="household").value == 1
    assert len([n for n in found.notes if n.startswith("Households share the draws of x")]) == 1


def averaged():
    """Two tables with a number that was replaced by means of ten, a stratum, a key and an outcome."""
    before = BEFORE.sort("x").with_columns(ill=pl.Series(drawn().choice(["no", "yes"], N)))
    after = before.with_columns(pl.col("x").mean().over(pl.int_range(N) // 10))
    book = Codebook({"x": Variable(kind="continuous"), "ill": Variable(role="outcome", kind="categorical")})
    pair = Pair(before, after, book, ("x",), ("sex",), aligned=True)
    read = [sf.read(table, codebook=book) for table in (before, after)]
    classes = (Classes("keys", ("sex", "region")), Classes("strata", ("sex",)))
    return Subject(read[1], read[0], read[0], pair, classes, sensitive_categories(book), how=Measuring(model="x ~ sex"))


def names(found):
    return {f.measure for f in found}


def test_both_faces_together_show_what_protect_shows():
    whole = names(measure(averaged(), quiet))
    parts = [names(measure(averaged(), quiet, face)) for face in ("risk", "compare")]
    assert parts[0] | parts[1] == whole
    assert parts[0] & parts[1] == {"unchanged"}
    assert {"k_anonymity", "l_distinct", "risk1", "linkage_nearest"} <= parts[0]
    assert {"mean", "sd", "quantile", "u_main", "standardised_difference"} <= parts[1]


def test_what_was_not_asked_for_is_not_measured():
    told = []
    found = measure(averaged(), lambda what, share: told.append(what), only={"k_anonymity", "sd"})
    assert told == ["measuring k-anonymity", "measuring means and spreads"]
    assert names(found) == {"k_anonymity", "mean", "sd"}


def test_measures_come_in_the_order_of_reports():
    found = measure(averaged(), quiet)
    order = [name for each in measures().values() for name in sorted({f.measure for f in found} & each.names)]
    assert set(order) == names(found)
    places = {name: i for i, each in enumerate(measures().values()) for name in each.names}
    assert [places[f.measure] for f in found] == sorted(places[f.measure] for f in found)


def test_the_h_rank_is_measured_without_noise_only_where_it_is_asked_for():
    subject = averaged()
    assert not measure(subject, quiet).select("h_rank")
    asked = Subject(subject.after, pair=subject.pair, how=Measuring(attacking=Attacking()))
    assert measure(asked, quiet).select("h_rank")
    named = Subject(subject.after, pair=subject.pair, asked=frozenset({"h_rank"}))
    assert measure(named, quiet, only={"h_rank"}).select("h_rank")


def test_what_could_not_be_measured_is_said_once_where_it_is_missed():
    one = Subject(averaged().after)
    assert measure(one, quiet, "risk").notes == (NO_CLASSES,)
    assert NO_CLASSES not in measure(averaged(), quiet).notes
    bare = Subject(averaged().after, pair=Pair(BEFORE, BEFORE, Codebook(), aligned=True))
    assert set(measure(bare, quiet).notes) >= {NO_CLASSES, NO_NUMBERS}
    assert not {NO_CLASSES, NO_NUMBERS} & set(measure(bare, quiet, "compare").notes)


def test_which_columns_nobody_must_learn():
    book = Codebook(
        {
            "income": Variable(role="sensitive", kind="continuous"),
            "ill": Variable(role="sensitive", kind="categorical"),
            "died": Variable(role="outcome", kind="categorical"),
            "sex": Variable(role="key", kind="categorical"),
        }
    )
    assert set(sensitive_categories(book)) == {"ill", "died"}
