import datetime
import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, PlanError
from sfumato.methods import pseudonymise
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.noise.method import Noise
from sfumato.methods.pram.method import Pram
from sfumato.methods.pseudonymise import Pseudonymise
from sfumato.methods.sample import Sample
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps

LAWFUL = [
    Pseudonymise(columns=["id"]),
    Pseudonymise(columns=["n", "h"], scope="interviews"),
    Pseudonymise(columns=["id"], scope="table", format="number"),
    Pseudonymise(columns=["g"], format="number"),
]
SECRET = bytes(range(16))


def ran(values, known=None, secret=SECRET, table="", plan="", name="farm", **how):
    step = Pseudonymise(columns=[name], **how)
    book = Codebook({name: Variable(**(known or {}))})
    assert step.check(book) == []
    frame = pl.DataFrame({name: values}, strict=False)
    return run_steps([step], PolarsDataset(frame, book), Draws(secret), table=table, plan=plan)


def given_to(values, *args, name="farm", **how):
    return ran(values, *args, name=name, **how).after.frame[name].to_list()


def test_equal_ids_get_equal_pseudonyms_whatever_column_and_type():
    codes = given_to([5, 7, 5])
    assert codes[0] == codes[2] != codes[1]
    assert all(len(code) == 32 and set(code) <= set("0123456789abcdef") for code in codes)
    assert given_to([5.0, 7.0, 5.0], name="holding") == given_to(["5", "7", "5"], name="x") == codes
    assert given_to(pl.Series([5, 7, 5], dtype=pl.Int8)) == codes
    assert given_to(["A 1"]) == given_to(["A 1", "B"])[:1] != given_to(["a 1"])


def test_a_known_answer():
    """AES-256 of the unit and of 0 under HMAC-SHA256 of the secret over what is drawn, from the primitives alone."""
    import hashlib
    import hmac

    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    parts = [b"sfumato/1", b"pseudonymise", b"", b"name interviews", b"0"]
    key = hmac.digest(SECRET, b"".join(len(p).to_bytes(4, "little") + p for p in parts), "sha256")
    text = hashlib.sha256(b"A 1").digest()[:8]
    for id_, unit in ((5, (5).to_bytes(8, "little")), ("A 1", text)):
        block = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(unit + bytes(8))
        expected = block[:8][::-1].hex() + block[8:][::-1].hex()
        assert given_to([id_], scope="interviews") == [expected]


def test_scopes_have_nothing_in_common():
    found = [
        given_to([5], **how)
        for how in (
            {},
            {"scope": "table"},
            {"scope": "table", "table": "visits"},
            {"scope": "visits"},
            {"scope": "table visits"},
            {"scope": "name visits"},
            {"secret": bytes(16)},
        )
    ]
    assert len({code for (code,) in found}) == len(found)
    assert given_to([5], scope="interviews", table="a") == given_to([5], scope="interviews", table="b")
    assert given_to([5], table="a") == given_to([5], table="b")


def test_numbers_are_one_to_n_in_a_keyed_order():
    ids = list(range(1000, 1200))
    numbers = given_to([*ids, 1000], format="number")
    assert sorted(numbers[:-1]) == list(range(1, 201))
    assert numbers[-1] == numbers[0]
    # correlation with the ids' order: 5 standard errors of 1/sqrt(200)
    assert abs(np.corrcoef(ids, numbers[:-1])[0, 1]) < 5 / np.sqrt(200)
    assert given_to(ids[::-1], format="number")[::-1] == numbers[:-1]
    assert given_to(ids, format="number", secret=bytes(16)) != numbers[:-1]


def test_numbers_join_with_no_other_table_or_plan():
    ids = list(range(1000, 1200))
    found = [
        ran(ids, format="number", table=table, plan=plan).after.frame["farm"].to_list()
        for table, plan in (("", "a"), ("", "b"), ("farmers", "a"), ("visits", "a"))
    ]
    for one, two in itertools.combinations(found, 2):
        # correlation of two orders: 5 standard errors of 1/sqrt(200)
        assert abs(np.corrcoef(one, two)[0, 1]) < 5 / np.sqrt(200)


def test_codes_of_a_table_alone_are_those_of_its_plan_alone():
    one, two = (sf.protect(plan(TABLE, title=title), people(), secret=SECRET).data["id"] for title in ("a", "b"))
    assert not set(one) & set(two)
    again = sf.protect(plan(TABLE, title="a"), people(), secret=SECRET).data["id"]
    assert again.to_list() == one.to_list()


def test_columns_of_one_step_share_their_numbers():
    frame = pl.DataFrame({"farm": [1, 2, 3], "neighbour": ["2", "3", None]})
    step = Pseudonymise(columns=["farm", "neighbour"], format="number")
    out = run_steps([step], PolarsDataset(frame, Codebook().only(frame.columns)), Draws(SECRET)).after.frame
    farm, neighbour = out["farm"].to_list(), out["neighbour"].to_list()
    assert neighbour == [farm[1], farm[2], None]
    assert sorted(farm) == [1, 2, 3]


def test_missing_stays_missing_and_codes_stay():
    known = {"missing": [{"code": -9, "label": "refused"}, {"low": -5, "high": -1}]}
    done = ran([5, None, -9, -3], known)
    assert done.after.frame["farm"].to_list()[1:] == [None, "-9", "-5 to -1"]
    assert done.after.codebook["farm"].missing[0].matches("-9")
    assert given_to([5, None, -9, -3], known, format="number") == [1, None, -9, -3]
    assert given_to(["A", "-9", None], {"missing": [-9]}, format="number") == [1, -9, None]
    assert given_to([5.0, float("nan")])[1] is None
    assert given_to([None, None]) == [None, None]
    assert given_to([]) == []


def test_no_number_is_a_missing_code():
    numbers = given_to(list(range(100, 110)), {"missing": [3, {"low": 5, "high": 6}]}, format="number")
    assert sorted(numbers) == [1, 2, 4, 7, 8, 9, 10, 11, 12, 13]


def test_two_texts_with_one_hash_are_refused(monkeypatch):
    monkeypatch.setattr(pseudonymise, "units", lambda ids: np.zeros(len(ids), dtype=np.uint64))
    with pytest.raises(DataError, match="same 64-bit hash") as told:
        ran(["Zyxomma", "b"])
    assert "Zyxomma" not in str(told.value)


def test_ids_that_are_no_whole_numbers_are_refused():
    with pytest.raises(DataError, match="whole numbers or text"):
        ran([1.5], {"kind": "categorical"})
    with pytest.raises(DataError, match="are no ids"):
        ran(pl.Series([datetime.timedelta(days=1)]))
    book = Codebook({"x": Variable(kind="continuous"), "w": Variable(role="weight"), "m": Variable(missing=["none"])})
    assert "holds no ids" in Pseudonymise(columns=["x"]).check(book)[0]
    assert "role weight" in Pseudonymise(columns=["w"]).check(book)[0]
    assert "take format: code" in Pseudonymise(columns=["m"], format="number").check(book)[0]
    for wrong in ({"scope": " "}, {"format": "hash"}):
        with pytest.raises(ValidationError):
            Pseudonymise(columns=["x"], **wrong)


@pytest.mark.parametrize(
    ("role", "left"), [("identifier", "other"), ("record", "record"), ("household", "household"), ("key", "key")]
)
def test_an_identifier_is_none_any_more_and_ids_stay_ids(role, left):
    known = {"role": role, "kind": "integer", "labels": {5: "Mill Farm"}, "range": (0, 9)}
    new = ran([5], known).after.codebook["farm"]
    assert (new.role, new.kind, new.labels, new.range) == (left, "text", {}, None)


def test_what_is_told():
    done = ran([5], scope="interviews")
    assert list(done.disclosure) == []
    assert "keyed with a secret, the same throughout the scope interviews" in done.steps[0].sentence
    assert not done.steps[0].protects
    assert "numbers in a keyed order" in ran([5], format="number").steps[0].sentence


some_ids = st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(max_size=8))


@pytest.mark.slow
@given(st.lists(some_ids, unique_by=str, min_size=1, max_size=30))
def test_different_ids_get_different_pseudonyms(ids):
    texts = [str(i) for i in ids]
    codes = given_to(texts)
    assert len(set(codes)) == len(set(texts))


VARIABLES = {
    "id": {"role": "record"},
    "nhs": {"role": "identifier"},
    "home": {"role": "household"},
    "sex": {"role": "key", "kind": "categorical"},
    "bmi": {"role": "key", "kind": "continuous"},
}


def people(n=60):
    return pl.DataFrame(
        {
            "id": range(1, n + 1),
            "nhs": [f"94347659{i:02}" for i in range(n)],
            "home": [i // 3 for i in range(n)],
            "sex": ["f", "m"] * (n // 2),
            "bmi": [20 + (i * 37 % 60) / 7 for i in range(n)],
        }
    )


def plan(*steps, **more):
    return Plan(variables=VARIABLES, steps=[*steps, Pseudonymise(columns=["nhs"])], **more)


def book(of=None):
    return (of or plan()).codebook(people(), Codebook())


ID, HOME = Pseudonymise(columns=["id"], scope="a"), Pseudonymise(columns=["home"], scope="a")
TABLE = Pseudonymise(columns=["id"], scope="table")


@pytest.mark.parametrize(
    "step",
    [
        Noise(columns=["bmi"], share=0.1),
        Pram(columns=["sex"], retention=0.9),
        Sample(fraction=0.5),
        Centroids(columns=["bmi"], k=3),
    ],
)
def test_steps_that_draw_stand_before_what_replaces_their_ids(step):
    with pytest.raises(PlanError, match="its draws are keyed on id, which pseudonymise replaced"):
        plan(ID, step).check(book())
    plan(step, ID).check(book())
    plan(HOME, step).check(book())


def test_draws_by_household_need_the_households_own_ids():
    step = Noise(columns=["bmi"], share=0.1, draw_by="household")
    with pytest.raises(PlanError, match="keyed on home"):
        plan(HOME, step).check(book())
    plan(ID, step).check(book())


def test_earlier_releases_are_not_compared_through_other_ids():
    with pytest.raises(PlanError, match="record by record"):
        plan(ID, earlier=[{"release": "a", "truth": "b"}]).check(book())


def test_a_pseudonymised_identifier_may_leave_whether_or_not_the_plan_knew_it_for_one():
    plan().check(book())
    with pytest.raises(PlanError, match="nhs"):
        Plan(variables=VARIABLES).check(book())
    unsaid = {n: v for n, v in VARIABLES.items() if n != "nhs"}
    Plan(variables=unsaid, steps=[Pseudonymise(columns=["nhs"])]).check_roles(people(), Codebook())
    with pytest.raises(PlanError, match="looks like an identifier"):
        Plan(variables=unsaid).check_roles(people(), Codebook())


NOISY = Noise(columns=["bmi"], share=0.2)


def test_rows_leave_in_an_order_that_tells_nothing():
    release = sf.protect(plan(NOISY, ID), people(), secret=SECRET)
    assert release.data["id"].is_sorted()  # by what is released, of which the first column is the pseudonym
    shuffled = sf.protect(plan(NOISY, ID), people().sample(fraction=1, shuffle=True, seed=1), secret=SECRET)
    assert release.data.frame.equals(shuffled.data.frame)


def figures(found):
    names = ("unchanged", "u_main", "delta", "il1s", "mean", "sd")
    return {(f.measure, f.variable): f.value for f in found if f.measure in names}


def test_what_is_measured_does_not_hang_on_the_ids():
    one = sf.protect(plan(NOISY), people(), secret=SECRET).report.findings
    two = sf.protect(plan(NOISY, ID), people(), secret=SECRET).report.findings
    assert figures(two) == pytest.approx(figures(one))


@pytest.mark.parametrize(
    "steps", [(NOISY, ID), (NOISY, TABLE), (ID,), (ID, sf.steps.Recode(columns=["bmi"], band=[25]))]
)
def test_the_secret_joins_a_release_with_its_original(steps):
    made = plan(*steps)
    release = sf.protect(made, people(), secret=SECRET)
    with pytest.raises(DataError, match="--secret-file"):
        sf.risk(people(), release.data, plan=made)
    assert any("--secret-file" in note for note in sf.compare(people(), release.data, plan=made).notes)
    with pytest.raises(DataError, match="--secret-file"):
        sf.compare(people(), release.data, plan=made, record="id")
    with pytest.raises(DataError, match="No id"):
        sf.risk(people(), release.data, plan=made, secret=bytes(16))
    found = figures(sf.compare(people(), release.data, plan=made, secret=SECRET))
    of_run = figures(release.report.findings)
    assert {k: found[k] for k, v in of_run.items() if v is not None} == pytest.approx(
        {k: v for k, v in of_run.items() if v is not None}
    )
    sf.risk(people(), release.data, plan=made, secret=SECRET)
    sf.risk(people(), plan=made)


def test_a_secret_of_the_environment_joins_them_too(monkeypatch):
    monkeypatch.setenv("SFUMATO_SECRET", SECRET.hex())
    made = plan(NOISY, ID)
    release = sf.protect(made, people())
    assert sf.compare(people(), release.data, plan=made).of("delta", variable="bmi").value > 0


def test_numbers_are_found_again_where_nobody_was_left_out():
    number = Pseudonymise(columns=["id"], format="number")
    made = plan(NOISY, number)
    release = sf.protect(made, people(), secret=SECRET)
    assert sf.compare(people(), release.data, plan=made, secret=SECRET).of("delta", variable="bmi").value > 0
    sampled = plan(Sample(fraction=0.5), number)
    release = sf.protect(sampled, people(), secret=SECRET)
    with pytest.raises(DataError, match="format: code"):
        sf.compare(people(), release.data, plan=sampled, secret=SECRET)


def test_what_the_custodian_is_warned_of():
    assert not any("running number" in w for w in sf.protect(plan(NOISY, ID), people(), secret=SECRET).report.warnings)
    said = " ".join(sf.protect(plan(ID), people()).report.warnings)
    assert "pseudonyms of id and nhs cannot be made again" in said
    assert "average them" not in said
