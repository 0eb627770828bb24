"""An invented clinical data warehouse: what a hospital group would let people ask tables and models of.

Regions exist on no map, wards are those of no hospital, and no record describes anybody. All draws compare whole
numbers with whole numbers, so that the table is the same on every machine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.roles import Kind, Role
from sfumato.errors import DataError

__all__ = ["warehouse", "warehouse_codebook", "warehouse_levels", "warehouse_never"]

_FEWEST, _MOST = 100, 5_000_000
_NOT_KNOWN = -9
_UNIT = 1 << 16
"""Draws are whole numbers below this."""

_SEX = ("F", "M")
_AGE = (*(f"{low:02}-{low + 4:02}" for low in range(0, 85, 5)), "85+")
_REGION: Mapping[str, tuple[str, str, int, int]] = {  # area, setting, share, how deprived
    "Averholt": ("North", "urban", 14, 2),
    "Brennick": ("North", "mixed", 9, 1),
    "Caldermoor": ("North", "rural", 6, 0),
    "Dunsmere": ("Midlands", "urban", 13, 2),
    "Eskerby": ("Midlands", "mixed", 9, 0),
    "Fennorth": ("Midlands", "rural", 5, 0),
    "Garrowick": ("East", "mixed", 8, -1),
    "Hollinsea": ("East", "rural", 4, -1),
    "Ivelbury": ("South", "urban", 15, 1),
    "Jarrowmead": ("South", "mixed", 8, -1),
    "Kelderford": ("South", "mixed", 6, -2),
    "Lathwold": ("South", "rural", 3, -2),
}
_DEPRIVATION = (1, 2, 3, 4, 5, _NOT_KNOWN)
_SMOKER = ("never", "former", "current", "not asked")
_NO_YES = ("no", "yes")
_COMORBIDITY = (0, 1, 2, 3, 4)
_DIAGNOSIS: Mapping[str, tuple[str, tuple[int, int, int, int, int], str]] = {  # system, weights by age, usual ward
    "infection": ("general", (150, 60, 40, 40, 50), "acute medicine"),
    "cancer": ("general", (10, 20, 60, 120, 110), "oncology"),
    "blood": ("general", (15, 20, 20, 20, 30), "acute medicine"),
    "endocrine": ("general", (20, 30, 50, 60, 40), "acute medicine"),
    "mental": ("brain and senses", (10, 110, 90, 40, 20), "psychiatry"),
    "nervous": ("brain and senses", (40, 50, 60, 60, 70), "neurology"),
    "eye": ("brain and senses", (20, 10, 20, 50, 70), "surgery"),
    "ear": ("brain and senses", (50, 15, 15, 15, 15), "surgery"),
    "circulatory": ("heart and lungs", (5, 20, 80, 190, 240), "cardiology"),
    "respiratory": ("heart and lungs", (210, 70, 60, 90, 130), "respiratory"),
    "digestive": ("abdomen", (90, 110, 130, 120, 90), "gastroenterology"),
    "urinary": ("abdomen", (30, 70, 80, 90, 100), "urology"),
    "skin": ("skin and bones", (30, 40, 30, 20, 20), "surgery"),
    "bones": ("skin and bones", (20, 60, 120, 120, 80), "orthopaedics"),
    "pregnancy": ("birth", (0, 0, 0, 0, 0), "maternity"),
    "newborn": ("birth", (120, 0, 0, 0, 0), "children"),
    "congenital": ("birth", (25, 3, 1, 1, 0), "surgery"),
    "symptoms": ("other", (90, 110, 100, 90, 90), "acute medicine"),
    "injury": ("other", (120, 150, 90, 60, 120), "orthopaedics"),
    "contact": ("other", (30, 50, 50, 40, 30), "surgery"),
}
_WARD: Mapping[str, tuple[str, int, int]] = {  # division, mean stay in tenths of days, pounds a day
    "acute medicine": ("medicine", 32, 420),
    "cardiology": ("medicine", 45, 610),
    "respiratory": ("medicine", 51, 480),
    "gastroenterology": ("medicine", 34, 450),
    "neurology": ("medicine", 62, 590),
    "oncology": ("medicine", 48, 740),
    "geriatrics": ("medicine", 96, 390),
    "surgery": ("surgery", 21, 820),
    "orthopaedics": ("surgery", 42, 760),
    "urology": ("surgery", 24, 680),
    "maternity": ("women and children", 22, 640),
    "children": ("women and children", 19, 560),
    "psychiatry": ("mental health", 210, 360),
    "intensive care": ("critical care", 58, 1980),
}
_ADMISSION = ("elective", "day case", "emergency", "transfer", "maternity")
_OUTCOME = ("home", "care home", "transferred", "died", "not recorded")
_LONGEST_STAY, _FOLLOWED = 180, 730

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]


class _Draws:
    """Columns of 16 bits, four from each word of the generator; its raw words never change between versions."""

    def __init__(self, n: int, seed: int) -> None:
        self._generator = np.random.PCG64(seed)
        self._n, self._left = n, 0
        self._words = np.zeros(0, dtype=np.uint64)

    def column(self) -> NDArray[np.uint16]:
        """The next column, shape (n,)."""
        if not self._left:
            self._words, self._left = self._generator.random_raw(self._n), 4
        self._left -= 1
        return (self._words >> np.uint64(16 * self._left)).astype(np.uint16)

    def codes(self, weights: Sequence[Sequence[int]] | Ints, given: NDArray[np.integer] | int = 0) -> Codes:
        """A code of each record, with these weights: a line for each value of what it hangs on."""
        cumulated = np.cumsum(np.asarray(weights, dtype=np.int64), axis=1)
        bounds = cumulated * _UNIT // cumulated[:, -1:]
        places = np.arange(bounds.shape[1], dtype=np.uint8)
        table = np.stack([np.repeat(places, np.diff(own, prepend=0)) for own in bounds])
        return np.asarray(table[given, self.column()])

    def waited(self) -> Ints:
        """Exponential times of mean 1,000, shape (n,)."""
        return np.asarray(_WAITED[self.column() >> 2])

    def bell(self) -> Ints:
        """Sums of four draws, about normal with mean 0 and standard deviation near 1,000, shape (n,)."""
        total = sum((self.column().astype(np.int64) for _ in range(4)), np.zeros(self._n, dtype=np.int64))
        return (total - 2 * _UNIT) * 1000 // 37837


_WAITED = np.array([round(-1000 * math.log((i + 0.5) / 16384)) for i in range(16384)], dtype=np.int64)


def warehouse(n: int = 50_000, seed: int = 1) -> pl.DataFrame:
    """Invent a clinical data warehouse: one admission of each of n patients.

    Twelve variables of 2 to 18 or 20 codes hang together as they would in a hospital; a few numbers, a cost with a long
    tail among them, go with them. Some codes say that a value is missing. No man is pregnant, and a diagnosis of HIV is
    rare.

    Parameters
    ----------
    n
        Number of records, 100 to 5,000,000.
    seed
        Of the draws; the same seed gives the same table on every machine.

    Returns
    -------
    polars.DataFrame
        The columns of `warehouse_codebook`, shape (n, 18).

    Raises
    ------
    DataError
        Where n is out of range.

    Examples
    --------
    >>> frame = warehouse(1000)
    >>> frame.columns == list(warehouse_codebook())
    True
    >>> frame.filter(pl.col("sex") == "M")["pregnant"].unique().to_list()
    ['no']
    """
    if not _FEWEST <= n <= _MOST:
        raise DataError(f"`n` is {n}; it must be between {_FEWEST} and {_MOST}.")
    draws = _Draws(n, seed)
    codes = _person(draws)
    codes |= _illness(draws, codes)
    ward, admission = codes["ward"], codes["admission"]
    stay = _stay(draws, ward, admission)
    time, event = _followed(draws, codes, stay)
    labels: dict[str, Sequence[str]] = {
        "sex": _SEX, "age": _AGE, "region": tuple(_REGION), "smoker": _SMOKER, "pregnant": _NO_YES, "hiv": _NO_YES,
        "diagnosis": tuple(_DIAGNOSIS), "ward": tuple(_WARD), "admission": _ADMISSION, "outcome": _OUTCOME,
    }  # fmt: skip
    columns = {"id": pl.Series(np.arange(1, n + 1))}
    columns |= {name: pl.Series(own, dtype=pl.Enum(own)).gather(codes.pop(name)) for name, own in labels.items()}
    columns["deprivation"] = pl.Series(np.array(_DEPRIVATION, dtype=np.int8)[codes.pop("deprivation")])
    columns["comorbidity"] = pl.Series(codes.pop("comorbidity").astype(np.int8))
    columns["bmi"] = pl.Series((255 + draws.bell() * 42 // 1000) / 10)
    columns["bmi"] = columns["bmi"].set(pl.Series(draws.column() < _UNIT * 4 // 100), None)
    columns["stay"] = pl.Series(stay.astype(np.int16))
    columns["cost"] = pl.Series(_cost(draws, ward, stay))
    columns["time"], columns["event"] = pl.Series(time.astype(np.int16)), pl.Series(event.astype(np.int8))
    return pl.DataFrame({name: columns[name] for name in warehouse_codebook()})


def _person(draws: _Draws) -> dict[str, Codes]:
    """Who they are."""
    sex = draws.codes([[52, 48]])
    women = [30, 20, 18, 25, 34, 42, 46, 42, 38, 40, 44, 48, 52, 58, 64, 66, 62, 80]
    men = [36, 22, 20, 22, 24, 26, 28, 30, 34, 40, 48, 54, 60, 66, 68, 62, 50, 44]
    age = draws.codes([women, men], sex)
    region = draws.codes([[share for _, _, share, _ in _REGION.values()]])
    tilt = [[20 + 4 * worse * (step - 2) for step in range(5)] + [3] for *_, worse in _REGION.values()]
    deprivation = draws.codes(tilt, region)
    # children are not asked; the rest smoke the more the more deprived they are, women a little less
    smoking = [[100, 0, 0, 0]] * 12 + [
        [70 - 4 * poor - 5 * man, (6, 18, 30)[old], 12 + 5 * poor + 3 * man - 4 * old, 6]
        for old in range(3)
        for man in range(2)
        for poor in (0, 1, 2, 3, 4, 2)
    ]
    grown = np.array([0] * 3 + [1] * 6 + [2] * 4 + [3] * 5)[age]
    smoker = draws.codes(smoking, (grown * 2 + sex) * 6 + deprivation)
    fertile = dict(zip(range(3, 9), (30, 90, 160, 150, 80, 20), strict=True))
    rates = [fertile.get(band, 0) if name == "F" else 0 for name in _SEX for band in range(len(_AGE))]
    pregnant = draws.codes([[1000 - rate, rate] for rate in rates], sex.astype(np.int64) * len(_AGE) + age)
    return {"sex": sex, "age": age, "region": region, "deprivation": deprivation, "smoker": smoker,
            "pregnant": pregnant}  # fmt: skip


def _illness(draws: _Draws, own: Mapping[str, Codes]) -> dict[str, Codes]:
    """What they have, and what comes of it."""
    group = np.array([0] * 3 + [1] * 5 + [2] * 4 + [3] * 3 + [4] * 3)[own["age"]]  # to 14, 39, 59, 74, and older
    urban = np.array([setting == "urban" for _, setting, _, _ in _REGION.values()])[own["region"]]
    positive = (1, 5, 7, 2, 1)  # of 1,000, outside towns
    hiv = draws.codes([[1000 - r * (1 + town), r * (1 + town)] for r in positive for town in (0, 1)], group * 2 + urban)
    smokes = own["smoker"] == 2
    ill = [[80, 14, 5, 1, 0], [70, 20, 7, 3, 0], [45, 30, 15, 7, 3], [22, 30, 24, 15, 9], [12, 25, 28, 21, 14]]
    ill += [[max(lines[0] - 12, 0), lines[1] - 2, lines[2] + 4, lines[3] + 6, lines[4] + 4] for lines in ill]
    comorbidity = draws.codes(ill, smokes * 5 + group)
    diagnosis = draws.codes(_diagnoses(), (group * 2 + own["pregnant"]) * 2 + hiv)
    wards = list(_WARD)
    ward = draws.codes(
        [_wards(wards, d, g) for d in _DIAGNOSIS for g in range(5)], diagnosis.astype(np.int64) * 5 + group
    )
    admission = draws.codes([_admissions(d) for d in _DIAGNOSIS], diagnosis)
    outcomes = [
        [
            900 - 70 * c - 40 * g,
            3 + 30 * max(g - 2, 0),
            30 + 8 * c,
            (2 + c) * (1, 2, 6, 14, 30)[g] // 2 * (1 + fast),
            12,
        ]
        for g in range(5)
        for c in range(5)
        for fast in (0, 1)
    ]
    outcome = draws.codes(outcomes, (group * 5 + comorbidity) * 2 + (admission == _ADMISSION.index("emergency")))
    return {"hiv": hiv, "comorbidity": comorbidity, "diagnosis": diagnosis, "ward": ward, "admission": admission,
            "outcome": outcome}  # fmt: skip


def _diagnoses() -> list[list[int]]:
    """Weights of diagnoses by age, pregnancy and HIV."""
    out = []
    for group in range(5):
        plain = [weights[group] for _, weights, _ in _DIAGNOSIS.values()]
        for pregnant in (0, 1):
            own = plain if not pregnant else [one // 8 for one in plain]
            own = [800 if name == "pregnancy" and pregnant else w for name, w in zip(_DIAGNOSIS, own, strict=True)]
            total = sum(own)
            infected = [total if name == "infection" else w for name, w in zip(_DIAGNOSIS, own, strict=True)]
            out += [own, infected]
    return out


def _wards(wards: Sequence[str], diagnosis: str, group: int) -> list[int]:
    """Weights of wards: mostly the usual one; children and the old go to their own."""
    weights = dict.fromkeys(wards, 0)
    weights[_DIAGNOSIS[diagnosis][2]] = 70
    if diagnosis not in ("pregnancy", "newborn"):
        for ward, more in (("acute medicine", 16), ("surgery", 8), ("intensive care", 6)):
            weights[ward] += more
    if group == 0:
        weights = {ward: weight // 8 for ward, weight in weights.items()} | {"children": 90}
    elif group == 4 and diagnosis != "pregnancy":
        weights["geriatrics"] = 45
    return list(weights.values())


def _admissions(diagnosis: str) -> list[int]:
    if diagnosis in ("pregnancy", "newborn"):
        return [0, 0, 10, 5, 85]
    acute = {"injury": 80, "infection": 70, "circulatory": 60, "respiratory": 65, "symptoms": 60}.get(diagnosis, 30)
    day = {"eye": 60, "cancer": 40, "digestive": 30, "contact": 40}.get(diagnosis, 15)
    return [max(95 - acute - day, 5), day, acute, 5, 0]


def _stay(draws: _Draws, ward: Codes, admission: Codes) -> Ints:
    mean = np.array([tenths for _, tenths, _ in _WARD.values()])[ward]
    days = np.minimum(draws.waited() * mean // 10_000, _LONGEST_STAY)
    return np.where(admission == _ADMISSION.index("day case"), 0, days)


def _cost(draws: _Draws, ward: Codes, stay: Ints) -> Floats:
    """Pounds: what a day on the ward costs, times the stay, and what was done, which now and then is very dear."""
    daily = np.array([pounds for _, _, pounds in _WARD.values()])[ward]
    done = draws.waited() * draws.waited() // 1000  # its tail is longer than that of an exponential
    return np.asarray(daily * (80 * (stay + 1) + done // 8 + draws.column() % 40) / 100)


def _followed(draws: _Draws, own: Mapping[str, Codes], stay: Ints) -> tuple[Ints, Ints]:
    """Days to death or to the end of looking, and whether it was death; who died on the ward is known to."""
    a_year = np.array([1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 9, 13, 20, 30, 45, 70, 110, 180])[own["age"]]
    rate = a_year * (4 + 3 * own["comorbidity"].astype(np.int64) + 2 * (own["smoker"] == 2)) // 4 + 1
    left = draws.waited() * 365 // rate + 1
    seen = 365 + draws.column().astype(np.int64) % (_FOLLOWED - 365 + 1)
    there = own["outcome"] == _OUTCOME.index("died")
    time = np.where(there, np.maximum(stay, 1), np.minimum(left, seen))
    return time, (there | (left <= seen)).astype(np.int64)


def warehouse_levels() -> dict[str, dict[str, dict[str, str]]]:
    """Coarser groups of the variables: by variable and level, the group of each code.

    `region@setting` does not nest in `region@area`, nor the other way round.

    Examples
    --------
    >>> levels = warehouse_levels()
    >>> levels["age"]["band10"]["35-39"], levels["region"]["area"]["Averholt"]
    ('30-39', 'North')
    """

    def days(upto: int, starts: Sequence[int]) -> dict[str, str]:
        digits = len(str(starts[-1]))  # groups stand in the order of their names
        ends = [
            f"{a:0{digits}}" if b - a == 1 else f"{a:0{digits}}-{b - 1:0{digits}}"
            for a, b in itertools.pairwise(starts)
        ]
        names = [*ends, f"{starts[-1]}+"]
        return {str(day): names[int(np.searchsorted(starts, day, side="right")) - 1] for day in range(upto + 1)}

    tens = {age: "80+" if low >= 80 else f"{low // 10 * 10:02}-{low // 10 * 10 + 9:02}" for low, age in _lows()}
    twenties = {age: "80+" if low >= 80 else f"{low // 20 * 20:02}-{low // 20 * 20 + 19:02}" for low, age in _lows()}
    return {
        "age": {"band10": tens, "band20": twenties},
        "region": {
            "area": {name: area for name, (area, *_) in _REGION.items()},
            "setting": {name: setting for name, (_, setting, *_) in _REGION.items()},
        },
        "deprivation": {
            "third": {"1": "least", "2": "least", "3": "middle", "4": "most", "5": "most", str(_NOT_KNOWN): "not known"}
        },
        "smoker": {"ever": {"never": "no", "former": "yes", "current": "yes", "not asked": "not asked"}},
        "comorbidity": {"any": {str(one): "none" if one == 0 else "some" for one in _COMORBIDITY}},
        "diagnosis": {"system": {name: system for name, (system, *_) in _DIAGNOSIS.items()}},
        "ward": {"division": {name: division for name, (division, *_) in _WARD.items()}},
        "admission": {"planned": {one: "no" if one in ("emergency", "transfer") else "yes" for one in _ADMISSION}},
        "stay": {"band": days(_LONGEST_STAY, (0, 1, 3, 7, 14, 30))},
        "time": {"quarter": {"0": "001-091"} | days(_FOLLOWED, (1, 92, 183, 274, 366, 457, 548, 639))},
    }


def _lows() -> list[tuple[int, str]]:
    return [(5 * i, age) for i, age in enumerate(_AGE)]


def warehouse_never() -> list[dict[str, str]]:
    """Combinations of codes that cannot be.

    Examples
    --------
    >>> warehouse_never()
    [{'sex': 'M', 'pregnant': 'yes'}]
    """
    return [{"sex": "M", "pregnant": "yes"}]


def warehouse_codebook() -> Codebook:
    """What is known about the columns of `warehouse`: roles, kinds, labels, units, missing codes.

    Examples
    --------
    >>> book = warehouse_codebook()
    >>> book["hiv"].role, book["deprivation"].missing[0].code
    (<Role.SENSITIVE: 'sensitive'>, -9)
    """

    def variable(role: Role, kind: Kind, label: str, **more: object) -> Variable:
        return Variable.model_validate({"role": role, "kind": kind, "label": label} | more)

    key, other, outcome, some = Role.KEY, Role.OTHER, Role.OUTCOME, Kind.CATEGORICAL
    rank = Kind.ORDINAL
    return Codebook(
        [
            ("id", variable(Role.RECORD, Kind.INTEGER, "Number of the patient")),
            ("sex", variable(key, some, "Sex", labels={"F": "female", "M": "male"})),
            ("age", variable(key, rank, "Age in years, in bands of five", order=_AGE)),
            ("region", variable(key, some, "Region of the home")),
            (
                "deprivation",
                variable(
                    other,
                    rank,
                    "Fifth of deprivation of the neighbourhood, 5 the most deprived",
                    order=_DEPRIVATION[:-1],
                    missing=[Missing(code=_NOT_KNOWN, label="address not known")],
                ),
            ),
            ("smoker", variable(other, some, "Smoking", missing=[Missing(code="not asked", label="not asked")])),
            ("pregnant", variable(key, some, "Pregnant at admission")),
            ("hiv", variable(Role.SENSITIVE, some, "HIV diagnosed")),
            ("comorbidity", variable(other, rank, "Further illnesses; 4 is four or more", order=_COMORBIDITY)),
            ("diagnosis", variable(key, some, "Main diagnosis, by chapter")),
            ("ward", variable(key, some, "Ward")),
            ("admission", variable(other, some, "Kind of admission")),
            (
                "outcome",
                variable(
                    outcome,
                    some,
                    "How the stay ended",
                    missing=[Missing(code="not recorded", label="not recorded")],
                ),
            ),
            ("bmi", variable(other, Kind.CONTINUOUS, "Body mass index", unit="kg/m²")),
            ("stay", variable(outcome, Kind.INTEGER, "Length of stay", unit="days", range=(0, _LONGEST_STAY))),
            ("cost", variable(outcome, Kind.CONTINUOUS, "Cost of the stay", unit="pounds")),
            ("time", variable(outcome, Kind.INTEGER, "Time to death or end of looking", unit="days")),
            ("event", variable(outcome, some, "Died while looked at", labels={0: "no", 1: "yes"})),
        ]
    )
