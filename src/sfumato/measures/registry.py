"""The registry: every measure, ours and anyone's, comes through the entry point group `sfumato.measures`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, get_args

from sfumato.measures.measure import FAMILIES, Figure, Measure, Need, Way
from sfumato.plug_ins import OURS, Failed, load, refuse_twice

__all__ = ["failed_measures", "figure", "figures", "figures_in", "figures_told", "measure_of", "measures", "ours"]


@cache
def measures() -> MappingProxyType[str, Measure]:
    """Every measure by the name of its file, in the order of reports.

    Raises
    ------
    PlugInError
        Two packages bring one of the same name, or figures of the same name.

    Examples
    --------
    >>> next(iter(measures()))
    'k_anonymity'
    """
    loaded = load("sfumato.measures", _fault)
    found = loaded.found
    refuse_twice(((f.name, loaded.packages[name]) for name, one in found.items() for f in one.figures), "figure")
    order = list(FAMILIES)
    return MappingProxyType(
        dict(sorted(found.items(), key=lambda item: (order.index(item[1].family), item[1].place, item[0])))
    )


def ours() -> frozenset[str]:
    """Figures of our own measures, for where it is said which of other packages are left out.

    Examples
    --------
    >>> "k_anonymity" in ours()
    True
    """
    whose = load("sfumato.measures", _fault).packages
    return frozenset(f for name, measure in measures().items() if whose[name] == OURS for f in measure.names)


def figures_in(form: Way) -> frozenset[str]:
    """Figures of the measures that have a form.

    Examples
    --------
    >>> sorted(figures_in("strata"))
    ['reconstruction']
    """
    return frozenset(f for measure in measures().values() if form in measure.ways for f in measure.names)


def failed_measures() -> Mapping[str, Failed]:
    """Measures of other packages that could not be loaded, by name.

    Examples
    --------
    >>> "k_anonymity" in failed_measures()
    False
    """
    return load("sfumato.measures", _fault).failed


def _fault(one: object) -> str | None:
    if not isinstance(one, Measure):
        return "it is no Measure"
    return None if one.family in FAMILIES else "its family is none that reports have"


@cache
def figures() -> MappingProxyType[str, Figure]:
    """Every figure by its name, the word that limits use, in the order of reports.

    Examples
    --------
    >>> "k_anonymity" in figures(), figures()["risk1"].better
    (True, 'low')
    """
    return MappingProxyType({f.name: f for measure in measures().values() for f in measure.figures})


def figure(name: str) -> Figure:
    """What is said of a figure; its bare name for one that nothing here measures.

    Examples
    --------
    >>> figure("delta").title, figure("of_a_plug_in_that_is_gone").published
    ('Spread that comes from protection (delta)', 'no')
    """
    return figures().get(name) or Figure(name, name, "A measure that was added to sfumato.")


@cache
def measure_of(name: str) -> Measure | None:
    """The measure that gives a figure; None where none does.

    Examples
    --------
    >>> measure_of("risk2") is measure_of("risk1")
    True
    """
    return next((measure for measure in measures().values() if name in measure.names), None)


def figures_told() -> list[dict[str, Any]]:
    """Every figure in plain values, as the file of its measure tells it.

    Returns
    -------
    list of dict
        With `name`, `title` and `what` it is, what it `needs`, its `form`, the `forms` of its measure, where it is
        `better`, and how it may be `published`.

    Examples
    --------
    >>> told = figures_told()[0]
    >>> told["name"], told["needs"], told["form"], told["better"], told["published"]
    ('k_anonymity', ['table', 'keys', 'strata'], 'count', 'high', 'ladder')
    """
    return [
        {
            "name": said.name,
            "title": said.title,
            "what": said.what,
            "needs": [need for need in get_args(Need) if need in measure.needs],
            "form": said.form,
            "forms": list(measure.ways),
            "better": said.better,
            "published": said.published,
        }
        for measure in measures().values()
        for said in measure.figures
    ]
