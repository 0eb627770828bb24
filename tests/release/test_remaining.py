"""Labels and category lists of categories that a step removed leave with them, in every format."""

import json
import zipfile
from dataclasses import replace

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files import SUFFIXES, read_table
from sfumato.release.remaining import remaining, remaining_lists
from sfumato.steps import CompleteCases, Drop, Recode, SuppressStrata

SECRET = bytes(16)
GONE = "Marrowby"
"""A town of few people."""
TOWNS = ["York", "Leeds", GONE]
LIMIT = {"measure": "k_anonymity", "group": "keys", "at_least": 1}


def book(**more):
    labels = {1: "York", 2: "Leeds", 3: GONE, 4: "Nowhere", -9: "refused"}
    hierarchy = {1: ["North"], 2: ["North"], 3: [f"{GONE}shire"], 4: ["South"]}
    town = Variable(kind="categorical", labels=labels, order=(1, 2, 3, 4), hierarchy=hierarchy, missing=[-9])
    return Codebook({"town": town})


def test_what_nobody_has_leaves():
    frame = pl.DataFrame({"town": [1, 2, 2, None]})
    left = remaining(frame, book(), book(), ["town"])["town"]
    assert left.labels == {1: "York", 2: "Leeds", -9: "refused"}
    assert left.order == (1, 2)
    assert list(left.hierarchy) == [1, 2]
    assert left.missing == book()["town"].missing
    assert remaining(frame, book(), book(), []) == book()


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([1.0, 2.5], {1: "a", 2.5: "b"}),
        (["1", "x"], {1: "a", "x": "b"}),
        ([True], {True: "a"}),
        (pl.Series(["x"], dtype=pl.Enum(["x", "y"])), {"x": "a"}),
        (pl.Series(["2020-01-31"]).str.to_date(), {"2020-01-31": "a"}),
    ],
)
def test_values_of_any_type_keep_their_labels(values, labels):
    known = Codebook({"v": Variable(labels=labels | {99: "gone", "z": "gone"})})
    assert remaining(pl.DataFrame({"v": values}), known, known, ["v"])["v"].labels == labels


def test_lists_of_categories_hold_what_there_is_in_its_order():
    towns = pl.Series("town", ["Leeds", None, "York"], dtype=pl.Enum(["York", GONE, "Leeds"]))
    found = remaining_lists(pl.DataFrame([towns, pl.Series("n", [1, 2, 3])]))
    assert found.schema == {"town": pl.Enum(["York", "Leeds"]), "n": pl.Int64}
    assert found["town"].to_list() == ["Leeds", None, "York"]


def people(coded):
    """60 people, of whom 2 live in a town of their own."""
    towns = [3, 3] + [1 + i % 2 for i in range(58)]
    wages = [None if town == 3 else 20.5 + i for i, town in enumerate(towns)]
    frame = pl.DataFrame({"id": range(60), "town": towns, "wage": wages})
    if not coded:
        named = pl.col("town").replace_strict({1: "York", 2: "Leeds", 3: GONE}, return_dtype=pl.Enum(TOWNS))
        return sf.read(frame.with_columns(named))
    return sf.read(frame, codebook=Codebook({"town": book()["town"]}))


def planned(*steps):
    town = {"role": "key", "kind": "categorical"}
    return sf.Plan(variables={"id": {"role": "record"}, "town": town}, steps=steps, limits=[LIMIT])


WAYS = {
    "suppress_strata": lambda coded: [SuppressStrata(by=["town"], min_count=5)],
    "complete_cases": lambda coded: [CompleteCases(columns=["wage"])],
    "recode": lambda coded: [Recode(columns=["town"], map={3: 1} if coded else {GONE: "York"})],
    "drop": lambda coded: [Drop(columns=["town"])],
}


def everything(folder):
    """All bytes of a release but those of the plan, with what is packed in them, and what the formats tell."""
    for path in folder.iterdir():
        if path.name == "plan.yaml":  # holds what the custodian wrote
            continue
        yield path.name, path.read_bytes().decode("latin-1")
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as archive:
                yield from ((name, archive.read(name).decode("latin-1")) for name in archive.namelist())
        if path.suffix in SUFFIXES:
            found = read_table(path, **({"header": True} if path.suffix in (".csv", ".xlsx") else {}))
            yield path.name, json.dumps(found.codebook.to_plain()) + str(found.frame.schema) + str(found.frame.rows())


@pytest.mark.parametrize("coded", [True, False])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("suffix", dict.fromkeys(SUFFIXES.values()))
def test_no_format_holds_a_category_that_a_step_removed(tmp_path, suffix, way, coded):
    data = replace(people(coded), suffix=suffix)
    sf.protect(planned(*WAYS[way](coded)), data, secret=SECRET).write(tmp_path / "release", force=True)
    for name, text in everything(tmp_path / "release"):
        assert GONE not in text, name


def test_a_column_that_no_step_touches_keeps_its_questionnaire():
    release = sf.protect(planned(Drop(columns=["wage"])), people(True), secret=SECRET)
    assert release.data.codebook["town"].labels[4] == "Nowhere"
    assert release.data.codebook["town"].order == (1, 2, 3, 4)


def test_what_leaves_does_not_tell_what_there_was():
    """With one who lives in the fourth town, who is left out, and without: the papers are the same."""
    data = people(True)
    other = data.frame.with_columns(town=pl.when(pl.col("id") == 0).then(4).otherwise("town"))
    books = [
        sf.protect(
            planned(SuppressStrata(by=["town"], min_count=5)), sf.read(frame, codebook=data.codebook), secret=SECRET
        )
        for frame in (data.frame, other)
    ]
    assert books[0].data.codebook == books[1].data.codebook


def test_the_bands_of_a_recode_stay():
    step = Recode(columns=["wage"], band=[30, 1000])
    release = sf.protect(planned(step), people(True), secret=SECRET)
    assert release.data.codebook["wage"].order == step.band_labels


def test_tables_whose_lists_differ_are_compared():
    data = people(False)
    release = sf.protect(planned(*WAYS["suppress_strata"](False)), data, secret=SECRET)
    assert release.data.frame.schema["town"] != data.frame.schema["town"]
    for found in (
        sf.compare(data, release.data, by=["town"], columns=["wage"], record="id"),
        sf.compare(data, release.data),
        sf.risk(data, release.data, by=["town"], columns=["wage"], record="id"),
    ):
        assert len(found) > 0
