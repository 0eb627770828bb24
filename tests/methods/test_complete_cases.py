from sfumato.methods.complete_cases import CompleteCases
from tests.methods.tables import run

LAWFUL = [CompleteCases(columns=["n"])]


def test_complete_cases_knows_null_nan_and_codes():
    assert run(CompleteCases(columns=["size"])).after.frame["age"].to_list() == [20, 41]
    assert run(CompleteCases(columns=["age"])).after.frame["age"].to_list() == [20, 30, 41]
