from pathlib import PurePath

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.errors import DataError, FileError
from sfumato.tuning.draft_tables import Drafted, draft_tables, named_tables

pytestmark = pytest.mark.usefixtures("one_draw")

SECRET = bytes(range(32))


def drafted(tables):
    known = {
        n: Drafted(f"{n}.csv", t, Codebook(), profile(t, Codebook({n: sf.Variable() for n in t.columns})))
        for n, t in tables.items()
    }
    return sf.Plan.from_yaml(draft_tables(known, "study"))


def study(n=300, seed=0):
    rng = np.random.default_rng(seed)
    ids = rng.permutation(np.arange(5000, 5000 + n))
    people = pl.DataFrame(
        {
            "person": ids,
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 80, n),
            "income": rng.lognormal(3, 1, n),
        }
    )
    visits = pl.DataFrame(
        {"visit": range(2 * n), "person": rng.choice(ids, 2 * n), "ward": rng.choice(["a", "b"], 2 * n)}
    )
    return {"people": people, "visits": visits}


def test_ids_that_tables_share_get_codes_of_their_own_and_nothing_links_them():
    plan = drafted(study())
    for table in plan.tables.values():
        last = table.steps[-1]
        assert (last.name, last.columns, last.scope) == ("pseudonymise", ("person",), "table")
    assert plan.links == ()
    release = sf.protect(plan, study(), secret=SECRET)
    assert len(release.links) == 0
    assert release.tables["visits"].data.frame["person"].n_unique() > 1  # who belongs together is still told


def test_the_comment_says_how_to_join_them_and_that_works():
    tables = {
        n: Drafted(f"{n}.csv", t, Codebook(), profile(t, Codebook({c: sf.Variable() for c in t.columns})))
        for n, t in study().items()
    }
    text = draft_tables(tables, "study")
    joined = text.replace("scope: table}", "scope: project}").replace("# links: ", "links: ")
    plan = sf.Plan.from_yaml(joined)
    assert [(link.from_, link.to, link.on) for link in plan.links] == [("visits", "people", ("person",))]
    release = sf.protect(plan, study(), secret=SECRET)
    assert len(release.links) == 0
    one, two = (release.tables[n].data.frame for n in ("visits", "people"))
    assert one.join(two, on="person").height > 0


def test_ids_that_no_other_table_has_become_numbers():
    table = study()["people"]
    plan = drafted({"people": table, "other": table.rename(lambda n: f"x{n}")})
    new = [step for step in plan.tables["people"].steps if step.name == "pseudonymise"]
    assert [step.format for step in new] == ["number"]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a.csv", "b.sav"], ["a", "b"]),
        (["wave 1.csv", "wave-1.csv", "wave_1.csv"], ["wave_1", "wave-1", "wave_1_2"]),
        (["REPORT.csv", "2020.csv", "ü.csv"], ["REPORT_table", "2020", "table_table"]),
        (["anna@example.org.csv", "b.csv"], ["table_table", "b"]),
    ],
)
def test_names_are_made_of_files(files, names):
    found = named_tables([PurePath(f) for f in files])
    assert list(found) == names
    sf.Plan.model_validate({"tables": {n: {"file": f.name} for n, f in found.items()}})


@pytest.mark.parametrize("files", [["a/x.csv", "b/y.csv"], ["a.csv", "a.csv"], ["a.csv", "A.csv"]])
def test_files_of_several_folders_are_refused(files):
    with pytest.raises(FileError, match="one folder"):
        named_tables([PurePath(f) for f in files])


def test_a_plan_with_another_table_has_another_digest():
    plan = drafted(study())
    before = plan.digest
    other = plan.with_table("visits", plan.table("people"))
    assert other.digest != before
    assert plan.digest == before


def test_a_column_with_a_name_of_our_own_is_refused_before_a_plan_is_drafted():
    with pytest.raises(DataError, match="sfumato's own"):
        drafted({"people": study()["people"].rename({"sex": "sfumato:row"})})
