"""Published figures: Table 3 of Avraam, Jones & Burton (2021), doi:10.21203/rs.3.rs-344334/v1, and IL1s of sdcMicro."""

import numpy as np
import polars as pl
import pytest
import statsmodels.formula.api as smf

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.utility.il1s import findings, il1s
from sfumato.measures.utility.model import fit_model
from sfumato.measures.utility.propensity import propensity

TABLE_3 = {  # original data: estimate, standard error, z value, Pr(>|z|) (an upper bound where printed as one)
    "Intercept": (3.519, 0.437, 8.054, 8.00e-16),
    "C(Pclass)[T.2]": (-1.067, 0.286, -3.732, 0.0002),
    "C(Pclass)[T.3]": (-2.283, 0.281, -8.135, 4.12e-16),
    "C(Sex)[T.male]": (-2.628, 0.194, -13.527, 2e-16),
    "Age": (-0.033, 0.008, -4.437, 9.13e-06),
    "Fare": (0.001, 0.002, 0.466, 0.641),
    "C(Family)[T.True]": (-0.091, 0.194, -0.471, 0.638),
}
MODEL = "Survived ~ C(Pclass) + C(Sex) + Age + Fare + C(Family)"


@pytest.fixture(scope="module")
def titanic(shared_data):
    frame = pl.read_csv(shared_data / "titanic.csv")
    return frame.select(
        "Survived",
        "Pclass",
        "Sex",
        pl.col("Age").fill_null(pl.col("Age").median()),
        "Fare",
        Family=pl.col("SibSp") + pl.col("Parch") > 0,
    )


def test_the_data_are_as_in_the_paper(titanic):
    assert titanic.height == 891
    assert (titanic["Age"] == 28).sum() >= 177


def test_table_3_of_the_original_data(titanic):
    """1e-3 is the last printed digit; p-values are printed to three digits, or to four places."""
    ours = fit_model(titanic, Codebook(), MODEL, "logistic")
    assert set(ours.labels) == set(TABLE_3)
    for label, estimate, se, z, p in zip(ours.labels, ours.estimate, ours.se, ours.z, ours.p, strict=True):
        published = TABLE_3[label]
        assert (estimate, se, z) == pytest.approx(published[:3], abs=1e-3)
        if label == "C(Sex)[T.male]":
            assert p < published[3]
        elif published[3] == 0.0002:
            assert p == pytest.approx(published[3], abs=5e-5)
        else:
            assert p == pytest.approx(published[3], rel=5e-3)


def test_u_on_these_columns_is_that_of_statsmodels(titanic):
    """Means moved by a twentieth of an sd, categories as they are; Survived and Pclass are factors."""
    after = titanic.with_columns(Age=pl.col("Age") + 0.65, Fare=pl.col("Fare") * 1.05)
    book = Codebook({name: Variable(kind="categorical") for name in ("Survived", "Pclass")})
    both = pl.concat([titanic.with_columns(t=0.0), after.with_columns(t=1.0)]).to_pandas()
    model = smf.logit("t ~ C(Survived) + C(Pclass) + Sex + Age + Fare + Family", both)
    scores = model.fit(disp=0, method="newton", tol=1e-10).predict()
    u = float(np.mean((np.asarray(scores) - 0.5) ** 2))
    assert propensity(titanic, after, book).u == pytest.approx(u, rel=1e-6)


def test_il1s_on_tarragona(shared_data):
    """dUtility (method IL1s) of sdcMicro for x + 0.1 sd sin(i j), i and j from 1: printed as 112.7412609."""
    names = ["PAID.UP.CAPITAL", "SHORT.TERM.DEBT", "SALES"]
    before = pl.read_csv(shared_data / "sdcmicro" / "Tarragona.csv").select(pl.col(names).cast(pl.Float64))
    x = before.to_numpy()
    i, j = np.arange(1, len(x) + 1)[:, None], np.arange(1, 4)
    z = x + 0.1 * x.std(axis=0, ddof=1) * np.sin(i * j)
    result = il1s(x, z)
    assert result.total == pytest.approx(112.7412609, abs=1e-6)
    pair = Pair(before, pl.DataFrame(z, schema=names, orient="row"), Codebook(), tuple(names), aligned=True)
    assert findings(pair).of("il1s").value == pytest.approx(112.7412609 / x.size, abs=1e-9)
