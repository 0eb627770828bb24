from sfumato.methods.drop import Drop
from tests.methods.tables import run

LAWFUL = [Drop(columns=["h", "y"])]


def test_drop():
    ran = run(Drop(columns=["city"]))
    assert ran.after.columns == ["age", "size"]
    assert ran.disclosure.sentences() == ("city: left out of the release.",)


def test_the_reason_stands_in_the_report():
    step = Drop(columns=["city"], reason="cannot be\n aggregated.")
    assert run(step).disclosure.sentences() == ("city: left out of the release (cannot be aggregated).",)
    assert step.sentence() == "drop: city (cannot be aggregated)."
    assert Drop(columns=["city"], reason=" ") == Drop(columns=["city"])
