import json

import pytest

from sfumato.errors import (
    DataError,
    DataStopped,
    FileError,
    FormulaError,
    KeyUsed,
    LimitReached,
    NoEntry,
    NotThere,
    SfumatoError,
)
from sfumato.web.problems import Problem, from_error, from_validation


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DataError("x"), 422),
        (FormulaError("x"), 422),
        (SfumatoError("x"), 422),
        (KeyUsed("x"), 409),
        (NotThere("x"), 404),
        (NoEntry("x"), 401),
        (LimitReached("x"), 429),
        (DataStopped("x"), 503),
        (FileError("x"), 503),
    ],
)
def test_what_is_raised_on_purpose_has_its_status(error, status):
    problem = from_error(error)
    assert (problem.status, problem.detail) == (status, "x")
    assert ("Retry-After" in problem.headers) == (status in (429, 503))
    assert ("WWW-Authenticate" in problem.headers) == (status == 401)


def test_members_are_those_of_the_standard():
    answer = Problem(404, "There is no such release.", {"more": 1}).response()
    assert answer.headers["content-type"] == "application/problem+json"
    assert json.loads(answer.body) == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "There is no such release.",
        "more": 1,
    }


def test_what_was_sent_is_not_said_again():
    sent = {"type": "string_type", "loc": ("body", "by", 0), "msg": "Input should be a string", "input": "planted"}
    plain = from_validation([sent] * 30).to_plain()
    assert "planted" not in json.dumps(plain)
    assert plain["errors"][0] == {"at": ["by", 0], "message": "Input should be a string"}
    assert len(plain["errors"]) == 20
