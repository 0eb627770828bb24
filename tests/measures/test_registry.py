"""The registry finds every measure, and every figure has one name."""

from importlib.metadata import entry_points

from sfumato.measures.measure import FAMILIES
from sfumato.measures.registry import figure, figures, measure_of, measures


def test_every_entry_point_is_a_measure():
    assert set(measures()) == {entry.name for entry in entry_points(group="sfumato.measures")}


def test_no_two_measures_give_one_figure():
    names = [name for measure in measures().values() for name in measure.names]
    assert len(names) == len(set(names)) == len(figures())
    assert all(name in measure_of(name).names for name in names)


def test_they_come_in_the_order_of_reports():
    order = [(list(FAMILIES).index(m.family), m.place) for m in measures().values()]
    assert order == sorted(order)
    assert len(set(order)) == len(order)  # a shared place would leave the order to chance
    assert list(figures()) == [f.name for m in measures().values() for f in m.figures]


def test_a_figure_that_nothing_measures_keeps_its_bare_name():
    gone = figure("of_a_plug_in_that_is_gone")
    assert (gone.name, gone.title, gone.published) == ("of_a_plug_in_that_is_gone",) * 2 + ("no",)
    assert measure_of("of_a_plug_in_that_is_gone") is None
