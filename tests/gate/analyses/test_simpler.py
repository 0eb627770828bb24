from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.analyses.simpler import models_of_table, simpler
from sfumato.gate.margin import Margin, Node
from tests.gate.analyses.people import records

DATA = records()


def formulas(kind, formula, **more):
    return [str(one.formula) for one in simpler(read_analysis(DATA, kind, formula, **more), DATA)]


def test_first_coarser_then_with_less():
    assert formulas("logistic", "died ~ C(age) + sex") == ["died ~ `age@band` + sex", "died ~ C(age)", "died ~ sex"]


def test_what_is_left_out_needs_no_values_any_more():
    request = read_analysis(DATA, "logistic", "died ~ smoker + sex")
    assert [one.complete for one in simpler(request, DATA)] == [("died", "sex"), ("died", "smoker")]


def test_a_model_of_one_term_has_nothing_simpler():
    assert formulas("logistic", "died ~ sex") == []
    assert formulas("t", "cost ~ sex") == []


def test_a_table_may_be_had_as_a_model():
    table = Margin.of([Node("ward"), Node("died"), Node("age", "band")])
    assert [str(one.formula) for one in models_of_table(table, {}, DATA)] == ["died ~ `age@band` + ward"]


def test_a_table_without_two_sides_has_none():
    assert list(models_of_table(Margin.of([Node("ward"), Node("age", "band")]), {}, DATA)) == []
    assert list(models_of_table(Margin.of([Node("ward"), Node("died")], value="cost"), {}, DATA)) == []
