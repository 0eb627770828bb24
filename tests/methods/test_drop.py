from sfumato.methods.drop import Drop
from tests.methods.tables import run

LAWFUL = [Drop(columns=["h", "y"])]


def test_drop():
    ran = run(Drop(columns=["city"]))
    assert ran.after.columns == ["age", "size"]
    assert ran.disclosure.sentences() == ("city: left out of the release.",)
