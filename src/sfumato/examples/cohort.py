"""An invented birth cohort with everything that makes real ones hard to share.

Names are made of syllables, NHS numbers come from the range 999 000 0000 to 999 999 9999 that is reserved for tests,
e-mail addresses are at example.org, postcodes begin with the letter Q that no British postcode has, telephone numbers
are those set aside for drama (07700 900 ...), and regions exist on no map. No record describes anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.detectors import nhs_check_digit
from sfumato.data.roles import Kind, Role
from sfumato.errors import DataError

__all__ = ["FEWEST", "MOST", "PROBIT", "cohort", "cohort_codebook"]

FEWEST, MOST = 20, 1_000_000
"""Smallest and largest cohort; the reserved NHS numbers would not do for more."""
PROBIT = (-0.80918, 0.12402, -0.13128, 0.05292)
"""Probit model of asthma: constant, smoker, breastfed, mould."""

# People in the seed paper on noise by smoker, breastfed, mould (000, 001, ... 111): without asthma, and with it.
_PATTERNS = np.array([380, 181, 1691, 1308, 357, 227, 758, 567]) + np.array([91, 61, 348, 310, 133, 66, 200, 159])

_REFUSED, _NOT_ASKED = -9, -8
_REGIONS = ("Averholt", "Brennick", "Caldermoor", "Dunsmere", "Eskerby", "Fennorth", "Garrowick", "Hollinsea")
_REGION_SHARES = (0.26, 0.21, 0.16, 0.13, 0.10, 0.08, 0.045, 0.015)
_SYLLABLES = "zor vek lim tas quo brel dax fen gri hul jom kel mip nuv pra rith sul vond wex yal"
_DIAGNOSES = "J45.9 F32.9 M54.5 I10 E66.9 F41.1 K21.9 G43.9 E11.9 N39.0 L40.0 E03.9 K50.9 G40.9 F20.0 B24 C50.9 Q90.9"
_OPENINGS = (
    "Interview went well and all questions were answered",
    "Was in a hurry and left out the last section",
    "Asked for the results of the blood test to be sent",
    "Would rather be visited in the evening next time",
    "Has moved house since the last visit",
    "Was unsure about the dates of earlier illnesses",
    "Measured in shoes as the floor was cold",
    "A neighbour was present during the interview",
    "Wants to hear what the study has found so far",
    "Second visit, nobody was at home the first time",
)
_CLOSINGS = (
    "nothing else to report.",
    "send a letter before the next visit.",
    "the scales were checked afterwards.",
    "please do not call at work.",
    "no sample was taken today.",
    "the dog had to be kept outside.",
    "will bring the old health record next time.",
    "prefers the online questionnaire.",
)


@dataclass(frozen=True, slots=True)
class _Family:
    """Who belongs to whom, shape (n,) each."""

    household: NDArray[np.int64]  # 0, 1, ... of each record
    position: NDArray[np.int64]  # 0 is the cohort member
    mother: NDArray[np.bool_]


def cohort(n: int = 2000, seed: int = 1) -> pl.DataFrame:
    """Invent a birth cohort: cohort members of about thirty, some with brothers, sisters or their mother.

    All of it is invented, so an ordinary random generator with a public seed is right here; what protects real data is
    drawn by `sfumato.draws`. Asthma follows the probit model `PROBIT`; height goes with sex and family, body mass index
    with education and smoking, income with education, age, sex and body mass index, and has a heavy tail.

    Parameters
    ----------
    n
        Number of records, 20 to 1,000,000.
    seed
        Seed of the generator (NumPy's PCG64); the same seed gives the same table.

    Returns
    -------
    polars.DataFrame
        The columns of `cohort_codebook`, shape (n, 26).

    Raises
    ------
    DataError
        Where n is out of range.

    Examples
    --------
    >>> frame = cohort(100)
    >>> frame.columns == list(cohort_codebook())
    True
    """
    if not FEWEST <= n <= MOST:
        raise DataError(f"`n` is {n}; it must be between {FEWEST} and {MOST}.")
    rng = np.random.Generator(np.random.PCG64(seed))
    family = _families(n, rng)
    frame = pl.DataFrame({"id": np.arange(1, n + 1)})
    frame = frame.with_columns(_people(family, rng)).with_columns(_places(family, rng))
    frame = frame.with_columns(_dates(family, rng))
    frame = frame.with_columns(_body_and_money(frame, family, rng)).with_columns(_illness(family, rng))
    frame = frame.with_columns(_diagnosis(frame, rng), _comment(frame, rng))
    return _with_holes(frame, family, rng).select(list(cohort_codebook()))


def _families(n: int, rng: np.random.Generator) -> _Family:
    size = rng.choice([1, 2, 3, 4], p=[0.45, 0.35, 0.15, 0.05], size=n)
    household = np.repeat(np.arange(n), size)[:n]
    first = np.concatenate([[0], np.cumsum(size)[:-1]])[household]
    position = np.arange(n) - first
    last = position == size[household] - 1
    return _Family(household, position, last & (position > 0) & (rng.random(n) < 0.4)[household])


def _words(rng: np.random.Generator, syllables: int, n: int) -> pl.Series:
    """Capitalised words of so many syllables, shape (n,)."""
    known = pl.Series(_SYLLABLES.split())
    parts = [known.gather(rng.integers(0, len(known), n)) for _ in range(syllables)]
    return pl.select(pl.concat_str(parts).str.to_titlecase()).to_series()


def _people(family: _Family, rng: np.random.Generator) -> list[pl.Series | pl.Expr]:
    n = len(family.household)
    relation = np.where(family.mother, 3, np.where(family.position == 0, 1, 2))
    sex = np.where(family.mother, 2, rng.integers(1, 3, n))
    forename, surname = _words(rng, 2, n), _words(rng, 3, n).gather(family.household)
    stem = 999_000_000 + rng.permutation(1_000_000)[: 2 * n + 100]  # ten of eleven have a check digit
    stem = stem[nhs_check_digit(stem) < 10]
    known = rng.random(n) >= 0.12  # never more than there are numbers: 88% of 10⁶ against 909,091
    digits = pl.Series("d", (stem * 10 + nhs_check_digit(stem))[np.minimum(np.cumsum(known) - 1, len(stem) - 1)])
    text = digits.cast(pl.String)
    spaced = pl.select(pl.concat_str(text.str.slice(0, 3), text.str.slice(3, 3), text.str.slice(6), separator=" "))
    mail = pl.concat_str(forename.str.to_lowercase(), pl.lit("."), surname.str.to_lowercase(), pl.col("id"))
    return [
        pl.concat_str(forename, surname, separator=" ").alias("name"),
        spaced.to_series().set(pl.Series(~known), None).alias("nhs_number"),
        pl.when(pl.Series(rng.random(n) < 0.85)).then(mail + "@example.org").alias("email"),
        pl.Series("household", 100_001 + family.household),
        pl.Series("relation", relation),
        pl.Series("sex", sex),
    ]


def _places(family: _Family, rng: np.random.Generator) -> list[pl.Series]:
    """Region, postcode and coordinates, the same for a household."""
    homes = int(family.household[-1]) + 1
    region = rng.choice(len(_REGIONS), p=_REGION_SHARES, size=homes)
    district = rng.integers(1, 20, homes)
    letters = np.array(list("ABDEFGHJLNPQRSTUWXYZ"))
    end = [rng.choice(letters, homes) for _ in range(2)]
    areas = np.array(["QA", "QB", "QC", "QD", "QE", "QF", "QG", "QH"])[region]
    inward = pl.concat_str(pl.Series(rng.integers(0, 10, homes)), pl.Series(end[0]), pl.Series(end[1]))
    postcode = pl.select(pl.concat_str(pl.Series(areas), pl.Series(district), pl.lit(" "), inward)).to_series()
    east = 120_000 + 90_000 * (region % 4) + 12_000 * (district % 5) + rng.normal(0, 2_500, homes)
    north = 150_000 + 300_000 * (region // 4) + 12_000 * (district // 5) + rng.normal(0, 2_500, homes)
    weight = 1 / (0.4 + np.array(_REGION_SHARES)[region] * 4) * np.exp(rng.normal(0, 0.25, homes))
    home = family.household
    return [
        pl.Series("region", _REGIONS).gather(region[home]),
        postcode.gather(home).alias("postcode"),
        pl.Series("easting", east.round().astype(np.int64)[home]),
        pl.Series("northing", north.round().astype(np.int64)[home]),
        pl.Series("weight", (weight / weight[home].mean()).round(4)[home]),
    ]


def _dates(family: _Family, rng: np.random.Generator) -> list[pl.Series]:
    """Births around 1990 to 1992, brothers and sisters a few years apart, interviews in 2022 and 2023."""
    n, home = len(family.household), family.household
    age = np.clip(rng.normal(28.5, 5.5, n), 16, 44)[home]  # of the mother when the cohort member was born
    born = np.datetime64("1990-01-01").astype(np.int64) + rng.integers(0, 3 * 365, n)[home]
    later = family.position * rng.integers(400, 1_200, n)[home] * np.where(age < 30, 1, -1)
    later = np.where(family.mother, -(age * 365.25), later).astype(np.int64)
    maternal = np.floor(age + later / 365.25).astype(np.int64)
    seen = np.datetime64("2022-01-10").astype(np.int64) + rng.integers(0, 700, n)[home] + rng.integers(0, 10, n)
    return [
        pl.Series("date_of_birth", born + later).cast(pl.Int32).cast(pl.Date),
        pl.Series("interview_date", seen).cast(pl.Int32).cast(pl.Date),
        pl.Series("maternal_age", np.where(family.mother, _NOT_ASKED, np.clip(maternal, 15, 47))),
    ]


def _body_and_money(frame: pl.DataFrame, family: _Family, rng: np.random.Generator) -> list[pl.Series]:
    n, home = frame.height, family.household
    male = frame["sex"].to_numpy() == 1
    shared = rng.standard_normal(n)[home]  # what a family has in common
    age = (frame["interview_date"] - frame["date_of_birth"]).dt.total_days().to_numpy() / 365.25
    latent = 0.5 * shared + rng.standard_normal(n) - 0.02 * (age - 31)
    education = 1 + np.searchsorted([-1.4, -0.5, 0.4, 1.1], latent)
    smoker, breastfed, mould = _exposures(family, rng)
    height = np.where(male, 176.5, 163.0) + np.where(male, 6.8, 6.3) * (
        np.sqrt(0.4) * rng.standard_normal(n)[home] + np.sqrt(0.6) * rng.standard_normal(n)
    )
    log_bmi = np.log(25.5) - 0.025 * (education - 3) - 0.03 * smoker + 0.004 * (age - 31) + rng.normal(0, 0.17, n)
    thin = (log_bmi - np.log(25.5)) / 0.17
    log_income = 10.05 + 0.22 * (education - 3) + 0.18 * male + 0.012 * (age - 31) - 0.08 * thin + rng.normal(0, 0.5, n)
    rich = np.where(rng.random(n) < 0.02, (1 - rng.random(n)) ** (-1 / 1.6), 1.0)
    score = np.clip(np.round(30 + 3.0 * (education - 3) + 3 * shared + rng.normal(0, 8, n)), 0, 60)
    return [
        pl.Series("education", education),
        pl.Series("smoker", smoker),
        pl.Series("breastfed", breastfed),
        pl.Series("mould", mould),
        pl.Series("height", height.round(1)),
        pl.Series("bmi", np.exp(log_bmi).round(1)),
        pl.Series("income", np.minimum(np.exp(log_income) * rich, 5e8).round(-1).astype(np.int64)),
        pl.Series("score", score.astype(np.int64)),
    ]


def _exposures(family: _Family, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Smoker, breastfed, mould, with the joint shares of `_PATTERNS`; a household shares the mould of its home."""
    n, share = len(family.household), _PATTERNS / _PATTERNS.sum()
    mould = (rng.random(n) < share[1::2].sum())[family.household].astype(np.int64)
    pair = np.empty(n, dtype=np.int64)
    for value in (0, 1):
        given = share[value::2] / share[value::2].sum()
        rows = mould == value
        pair[rows] = rng.choice(4, p=given, size=int(rows.sum()))
    return pair // 2, pair % 2, mould


def _illness(family: _Family, rng: np.random.Generator) -> list[pl.Expr]:
    n = len(family.household)
    constant, smoker, breastfed, mould = PROBIT
    index = constant + smoker * pl.col("smoker") + breastfed * pl.col("breastfed") + mould * pl.col("mould")
    return [(index + pl.Series(rng.standard_normal(n)) > 0).cast(pl.Int64).alias("asthma")]


def _diagnosis(frame: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    """One main diagnosis: asthma for many who have it, else a few common ones and a tail of rare ones, else none."""
    codes = _DIAGNOSES.split()
    shares = 1 / np.arange(1, len(codes)) ** 1.7
    other = 1 + rng.choice(len(codes) - 1, p=shares / shares.sum(), size=frame.height)
    asthma = (frame["asthma"].to_numpy() == 1) & (rng.random(frame.height) < 0.6)
    drawn = pl.Series("diagnosis", codes).gather(np.where(asthma, 0, other))
    return drawn.set(pl.Series(~asthma & (rng.random(frame.height) < 0.6)), None)


def _comment(frame: pl.DataFrame, rng: np.random.Generator) -> pl.Expr:
    """Free text for a third of the records; a few comments give away a name and a telephone number."""
    n = frame.height
    opening = pl.Series(_OPENINGS).gather(rng.integers(0, len(_OPENINGS), n))
    closing = pl.Series(_CLOSINGS).gather(rng.integers(0, len(_CLOSINGS), n))
    plain = pl.concat_str(opening, closing, separator="; ")
    phone = pl.Series(rng.integers(100, 1000, n))
    named = pl.concat_str(opening, pl.lit("; ask for "), pl.col("name"), pl.lit(" on 07700 900"), phone, pl.lit("."))
    kind = pl.Series(rng.random(n))
    return pl.when(kind < 0.3).then(plain).when(kind < 0.34).then(named).alias("comment")


def _with_holes(frame: pl.DataFrame, family: _Family, rng: np.random.Generator) -> pl.DataFrame:
    """Refusals and questions that were not asked, as codes; some plain missing values."""
    n, mother = frame.height, pl.Series(family.mother)

    def share(p: float) -> pl.Series:
        return pl.Series(rng.random(n) < p)

    return frame.with_columns(
        pl.when(mother).then(_NOT_ASKED).when(share(0.03)).then(_REFUSED).otherwise("breastfed").alias("breastfed"),
        pl.when(share(0.07)).then(_REFUSED).otherwise("income").alias("income"),
        pl.when(mother | share(0.04))
        .then(_NOT_ASKED)
        .when(share(0.03))
        .then(_REFUSED)
        .otherwise("score")
        .alias("score"),
        *(
            pl.when(~share(p)).then(c).alias(c)
            for c, p in {"bmi": 0.04, "height": 0.02, "interview_date": 0.01}.items()
        ),
    )


_NO_YES = {0: "no", 1: "yes"}
_EDUCATION = {1: "none", 2: "basic", 3: "intermediate", 4: "advanced", 5: "degree"}


def _codes(*codes: int) -> tuple[Missing, ...]:
    labels = {_REFUSED: "refused", _NOT_ASKED: "not asked"}
    return tuple(Missing(code=c, label=labels[c]) for c in codes)


def cohort_codebook() -> Codebook:
    """What is known about the columns of `cohort`: roles, kinds, labels, units, missing codes.

    Examples
    --------
    >>> book = cohort_codebook()
    >>> book["sex"].labels[2], book.the("record")
    ('female', 'id')
    """

    def variable(role: Role, kind: Kind, label: str, **more: object) -> Variable:
        return Variable.model_validate({"role": role, "kind": kind, "label": label} | more)

    both, binary = _codes(_REFUSED, _NOT_ASKED), Kind.CATEGORICAL
    rows: Sequence[tuple[str, Variable]] = [
        ("id", variable(Role.RECORD, Kind.INTEGER, "Record number")),
        ("name", variable(Role.IDENTIFIER, Kind.TEXT, "Full name")),
        ("nhs_number", variable(Role.IDENTIFIER, Kind.TEXT, "NHS number")),
        ("email", variable(Role.IDENTIFIER, Kind.TEXT, "E-mail address")),
        ("postcode", variable(Role.KEY, Kind.GEOGRAPHIC, "Postcode of the home")),
        ("easting", variable(Role.KEY, Kind.GEOGRAPHIC, "Easting of the home", unit="m")),
        ("northing", variable(Role.KEY, Kind.GEOGRAPHIC, "Northing of the home", unit="m")),
        ("date_of_birth", variable(Role.KEY, Kind.DATE, "Date of birth")),
        ("interview_date", variable(Role.KEY, Kind.DATE, "Date of the interview")),
        ("household", variable(Role.HOUSEHOLD, Kind.INTEGER, "Household of origin")),
        (
            "relation",
            variable(
                Role.OTHER,
                binary,
                "Relation to the cohort",
                labels={1: "cohort member", 2: "brother or sister", 3: "mother"},
            ),
        ),
        ("weight", variable(Role.WEIGHT, Kind.CONTINUOUS, "Sampling weight, mean 1")),
        ("sex", variable(Role.KEY, binary, "Sex", labels={1: "male", 2: "female"})),
        ("region", variable(Role.KEY, binary, "Region of the home")),
        (
            "education",
            variable(Role.KEY, Kind.ORDINAL, "Highest qualification", labels=_EDUCATION, order=tuple(_EDUCATION)),
        ),
        ("smoker", variable(Role.OTHER, binary, "Ever smoked regularly", labels=_NO_YES)),
        ("breastfed", variable(Role.OTHER, binary, "Was breastfed", labels=_NO_YES, missing=both)),
        ("mould", variable(Role.OTHER, binary, "Visible mould in the childhood home", labels=_NO_YES)),
        ("asthma", variable(Role.OUTCOME, binary, "Asthma ever diagnosed", labels=_NO_YES)),
        (
            "maternal_age",
            variable(Role.KEY, Kind.INTEGER, "Age of the mother at birth", unit="years", missing=_codes(_NOT_ASKED)),
        ),
        ("height", variable(Role.KEY, Kind.CONTINUOUS, "Height", unit="cm")),
        ("bmi", variable(Role.KEY, Kind.CONTINUOUS, "Body mass index", unit="kg/m²")),
        (
            "income",
            variable(Role.SENSITIVE, Kind.INTEGER, "Yearly income before tax", unit="pounds", missing=_codes(_REFUSED)),
        ),
        ("diagnosis", variable(Role.SENSITIVE, binary, "Main diagnosis, ICD-10")),
        ("score", variable(Role.OUTCOME, Kind.INTEGER, "Reasoning score, 0 to 60", missing=both, range=(0, 60))),
        ("comment", variable(Role.IDENTIFIER, Kind.TEXT, "Interviewer's comment")),
    ]
    return Codebook(rows)
