"""No parameter is silent: another value of it makes another release or another disclosure, or is refused.

Each parameter of each lawful step is given other values that its type allows. Refusals of the value by itself, as of a
number out of its range, do not count; that of the step as a whole, or of the data, does.
"""

import json
from functools import cache

import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.dataset import rows
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import SfumatoError
from sfumato.methods.registry import methods
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from sfumato.testing.methods import SECRET
from sfumato.testing.tables import PEOPLE, with_missing
from tests.laws.steps import cases
from tests.methods.tables import lawful

COLUMNS = {"columns": ["x", "y", "n", "h", "g"], "strata": ["g", "h", "area", "town"]}
EXEMPT = {
    ("anonymise", "hierarchies"): "another folder of files",
    ("anonymise", "local"): "keys whose narrowest levels some records can keep",
    ("anonymise", "loss"): "hierarchies on which losses disagree",
    ("anonymise", "time_limit"): "a search of over 12 keys",
    ("anonymise", "uniques_sample"): "a k of 1, which is none: it may be asked for, and holds",
    ("centroids", "distinct"): "records that are equal in all columns",
    ("centroids", "preset"): "what the step does not say itself",
    ("centroids", "on_small"): "strata that are too small",
    ("centroids", "ties"): "neighbours that are equally far",
    ("coarsen_date", "invalid"): "values that are no dates",
    ("count_text", "separator"): "texts of several entries",
    ("map_text", "unmapped"): "texts that the map does not list",
    ("map_text", "words"): "texts that the map does not list",
    ("noise", "min_stratum"): "strata with fewer values, or numbers that are codes",
    ("noise", "preset"): "columns of 0 and 1",
    ("recode", "hierarchies"): "another folder of files",
    ("redact", "engine"): "a package with models of language",
    ("to_grid", "outside"): "places outside the grid",
    ("to_line", "lines"): "another file",
    ("to_polygon", "polygons"): "another file",
    ("truncate_code", "invalid"): "values that are no codes",
    ("typify", "layers"): "other files",
}
"""Parameters whose other values show on other data alone, and what these would have to hold."""


def candidates(schema, now, name):
    """Other values of a parameter, by its type: near ones, and ones at the ends."""
    kinds = schema.get("anyOf", [schema])
    for kind in kinds:
        yield from _candidates(kind, now, name)


def _candidates(kind, now, name):
    match kind.get("type"):
        case "boolean":
            yield from (True, False)
        case "string" if "enum" in kind or "const" in kind:
            yield from kind.get("enum", [kind.get("const")])
        case "string":
            yield from [*WORDS.get(name, ("other",))]
        case "integer":
            own = now if isinstance(now, int) and not isinstance(now, bool) else 5
            yield from (own + 1, own - 1, 2 * own, 1, 0, 2, 40, 1000)
        case "number":
            own = now if isinstance(now, int | float) and not isinstance(now, bool) else 0.5
            yield from (own * 1.5, own / 2, 0.0, 1.0, 0.9, 0.01, 30.0, 1000.0)
        case "array":
            yield from _lists(kind, now, name)
        case "object":
            yield from MAPS.get(name, ())
        case "null":
            yield None


def _lists(kind, now, name):
    own = list(now) if isinstance(now, list | tuple) else []
    if name in LISTS:
        yield from LISTS[name]
    elif kind.get("items", {}).get("type") == "string":
        places = COLUMNS["columns" if name in ("columns", "given", "carry", "sensitive", "importance") else "strata"]
        yield from ([*own, column] for column in places if column not in own)
        yield from (own[:i] + own[i + 1 :] for i in range(len(own)))
        yield own[::-1]


WORDS = {
    "formula": ("x + y", "n"),
    "where": ("missing", "n > 30"),
    "reason": ("not needed",),
    "format": ("number", "%Y", "excel"),
    "reference": ("1990-01-01",),
    "column": ("made", "other"),
    "separator": (",", " ", "u"),
    "into": ("g", "other"),
    "x": ("y", "rent"),
    "y": ("x", "rent"),
    "weight": ("rent", "y"),
    "head": ("n", "id"),
    "hierarchies": (),
    "lines": (),
    "polygons": (),
    "attribute": ("kind", "name"),
    "role": ("key", "sensitive"),
    "default": ("another",),
    "scope": ("other", "table", "trials", "interviews"),
}
MAPS = {
    "clip": ({"x": [9, 11]}, {"y": [0.5, 1]}, {"n": [30, 40]}, {"h": [0.4, 0.5]}),
    "round_to": ({"x": 0.5}, {"y": 0.5}, {"n": 5}, {"h": 0.5}),
    "caps": ({"h": 0.0}, {"n": 0.0}, {"g": 0.0}),
    "share": ({"x": 0.9, "y": 0.2, "n": 0.3}, {"x": 0.9}, {"n": 0.9}, {"h": 0.9}, {"x": 0.9, "y": 0.1}),
    "variance": ({"x": 9}, {"n": 9}, {"h": 9}, {"x": 9, "y": 1}),
    "sd": ({"x": 9}, {"n": 9}, {"h": 9}, {"x": 9, "y": 1}),
    "method": ({"x": "parametric"}, {"y": "parametric"}, {"n": "parametric"}),
    "predictors": ({"x": ["n"]}, {"y": ["x"]}, {"n": ["x"]}, {"h": ["x"]}),
    "derived": ({"x": "y + 1"}, {"y": "x + 1"}, {"n": "x"}, {"rent": "x"}),
    "map": ({"u": "a", "v": "b", "w": "a", "a": "a", "b": "b"},),
    "words": ({"u": "few"}, {"v": "few", "w": "few"}),
    "hierarchy": ({"u": ["p"], "v": ["p"], "w": ["q"]},),
    "attribute_weights": ({"h": 9.0}, {"g": 9.0}, {"n": 9.0}),
    "replace": ({"name": "NN"},),
    "band": ({"schools": [200]},),
    "matrix": (),
    "levels": (),
    "dummies": ({"h": ["u", "v", "w"]}, {"g": ["a", "b"]}, {"x": [1, 2]}, {"n": [1, 2]}),
    "layers": (),
    "hierarchies": (),
}
LISTS = {
    "covariance": ([[4, 1], [1, 3]],),
    "matrix": ([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]],),
    "levels": (["w", "u", "v"], ["u", "v", "w", "z"]),
    "labels": (["few", "some", "many"], ["few", "many"]),
    "nothing": (["v"], ["u"]),
    "band": ([30], [8, 12]),
    "subsets": ([{"size": 1, "k": 60}],),
    "similar": ([["h"]], [["g"]], [["n"]]),
    "rules": tuple([{"if": "n > 30", "column": name, "value": 7}] for name in ("x", "y", "rent", "n")),
    "entities": (["email"], ["date"]),
    "keep": (["x < n"], ["y < x"], ["n < rent"], ["h of g"]),
}


def outcome(step):
    """What a step makes of the table: rows, disclosure, codebook; a refusal is another."""
    try:
        Plan(variables={"n": {"kind": "integer"}}, steps=[step]).check(PEOPLE)
        ran = run_steps([step], PolarsDataset(with_missing(), PEOPLE), Draws(SECRET))
    except SfumatoError as error:
        return "refused", str(error)
    released = rows(ran.after)
    released = released.sort("id") if "id" in released.columns else released
    told = json.dumps(ran.disclosure.to_plain(), sort_keys=True, default=str)
    return released, told, ran.after.codebook


@cache
def first(do, number):
    return outcome(lawful(do)[number])


def same(one, two):
    if len(one) != len(two):
        return False
    return all(a.equals(b) if isinstance(a, pl.DataFrame) else a == b for a, b in zip(one, two, strict=True))


def tried(do, number, name):
    """Whether some other value was tried, and whether one showed."""
    step = lawful(do)[number]
    now = step.model_dump()[name]
    schema = methods()[do].model_json_schema()["properties"][name]
    schema = schema if "$ref" not in schema else {"type": "string"}
    any_tried = False
    for value in candidates(schema, now, name):
        if value == now and type(value) is type(now):
            continue
        try:
            other = type(step).model_validate({**step.model_dump(exclude_unset=True), name: value})
        except ValidationError as error:
            if any(not problem["loc"] for problem in error.errors()):
                return True, True  # the value may be, and is refused beside the others
            continue
        if other == step:
            continue
        any_tried = True
        if not same(first(do, number), outcome(other)):
            return True, True
    return any_tried, False


PARAMETERS = [
    pytest.param(*case.values, name, id=f"{case.id}-{name}", marks=case.marks)
    for case in cases()
    for name in methods()[case.values[0]].model_fields
    if name != "do"
]


@pytest.mark.parametrize(("do", "number", "name"), PARAMETERS)
def test_another_value_shows_or_is_refused(do, number, name):
    if (do, name) in EXEMPT:
        return
    some, shows = tried(do, number, name)
    assert some, "no other value was tried"
    assert shows, "another value changes neither release nor disclosure, and is not refused"


@pytest.mark.slow
def test_exemptions_are_of_parameters_and_needed():
    """None stands for a parameter that shows in every step."""
    assert all(name in methods()[do].model_fields for do, name in EXEMPT)
    where = {(do, name): [tried(do, i, name)[1] for i in range(len(lawful(do)))] for do, name in EXEMPT}
    assert not [place for place, shows in where.items() if all(shows)]


IN_GROUPS = {
    "do": "swap",
    "columns": ["x", "n", "h"],
    "group": 4,
    "by": ["g"],
    "together": [["x", "n"]],
    "perturb": 0.1,
}
OTHERWISE = {
    "larger groups": {"group": 5},
    "another set": {"together": [["x", "h"]]},
    "no set": {"together": False},
    "drawn from farther": {"perturb": 0.3},
    "not drawn anew": {"perturb": None},
    "other strata": {"by": ["town"]},
    "no strata": {"by": []},
}


@pytest.mark.parametrize("other", OTHERWISE.values(), ids=OTHERWISE)
def test_each_word_of_an_exchange_within_groups_shows_in_the_values(other):
    """What is asked above of the release or the disclosure, and `together: true`, which is refused, would do there."""
    released, told, _ = outcome(methods()["swap"](**IN_GROUPS))
    again, told_again, _ = outcome(methods()["swap"](**(IN_GROUPS | other)))
    assert isinstance(released, pl.DataFrame)
    assert not released.select("x", "n", "h").equals(again.select("x", "n", "h"))
    assert told != told_again


IDLE = [
    ({"do": "pram", "columns": ["h"], "retention": 0.8, "by": ["g"]}, "`by` changes nothing without `invariant: true`"),
    ({"do": "pram", "columns": ["h"], "retention": 0.8, "min_count": 9}, "`min_count` .* `invariant: true`"),
    ({"do": "noise", "columns": ["x"], "sd": 1, "by": ["g"]}, "`by` .* `share`, `correlated` or `grow`"),
    ({"do": "centroids", "columns": ["x"], "k": 3, "grouping": "mdav", "ties": "all"}, "`ties` .* `grouping: knn`"),
    ({"do": "centroids", "columns": ["x"], "k": 3, "allow_small_k": True}, "`allow_small_k` .* `k: 2`"),
    ({"do": "centroids", "columns": ["x"], "k": 3, "max_suppressed": 0.1}, "`max_suppressed` .* `on_small: suppress`"),
    ({"do": "anonymise", "keys": ["h"], "l_kind": "entropy"}, "`l_kind` changes nothing without `l`"),
    ({"do": "anonymise", "keys": ["h"], "l": 2, "l_c": 3.0}, "`l_c` .* `l_kind: recursive`"),
    ({"do": "impute", "columns": ["n"], "method": "mean", "value": "none"}, "`value` .* `method: category`"),
    ({"do": "coarsen_date", "columns": ["n"], "to": "year", "width": 7}, "`width` .* `to: age_band`"),
    ({"do": "map_text", "columns": ["h"], "map": {"u": "a"}, "default": "rest"}, "`default` .* `unmapped: other`"),
    ({"do": "recode", "columns": ["n"], "band": [30], "other": "error"}, "`other` changes nothing without `map`"),
]


@pytest.mark.parametrize(("step", "says"), IDLE)
def test_what_would_change_nothing_is_refused_with_what_to_write(step, says):
    with pytest.raises(ValidationError, match=says):
        Plan(steps=[step])
