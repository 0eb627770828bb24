"""Whatever is sent: every answer is one that the description has, and none is a fault of its own."""

import random

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from sfumato.web.gate.access import TABLE
from tests.late import late
from tests.web.gate.conftest import USERS, made_world

schemathesis = late("schemathesis")
checks = late("schemathesis.checks")
answers = late("schemathesis.specs.openapi.checks")

KNOWN = {"dataset": "ward", "place": "north", "user": "cat", "giver": "north", "taker": "south", "policy": "research"}
NOT_DESCRIBED = ("/", "/openapi.json")
OPERATIONS = [
    (method, path)
    for method, path in TABLE
    if path not in (*NOT_DESCRIBED, "/logout")
    and not path.startswith(("/pages/", "/login/oidc"))
    and (method, path) != ("GET", "/login")
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    made = made_world(tmp_path_factory.mktemp("shared"))
    yield made
    made.gate.close()


@pytest.fixture(scope="module")
def schema(shared):
    told = shared.client("ann").get("/openapi.json").json()
    return schemathesis.openapi.from_dict(told)


CASE = "tests/web/gate/test_schemas.py::test_whatever_is_sent"
EACH = [pytest.param(*operation, 8, marks=pytest.mark.slow, id="-".join(operation)) for operation in OPERATIONS]
MANY = [
    pytest.param(*operation, 50, marks=pytest.mark.nightly(of=f"{CASE}[{'-'.join(operation)}]"))
    for operation in OPERATIONS
]


@pytest.mark.parametrize(("method", "path", "examples"), EACH + MANY)
def test_whatever_is_sent(shared, schema, method, path, examples):
    rule = TABLE[method, path]
    role = sorted(rule.roles)[0] if rule.roles else "analyst"
    who = next(name for name, own in USERS.items() if own == role)
    headers = {"Authorization": f"Bearer {shared.tokens[who]}"} if rule.scopes else {}
    held = [
        checks.not_a_server_error,
        answers.content_type_conformance,
        answers.status_code_conformance,
        answers.response_schema_conformance,
    ]

    @given(case=schema[path][method].as_strategy())
    @settings(
        max_examples=examples, deadline=None, database=None, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck), derandomize=True,
    )  # fmt: skip
    def asked(case):
        case.headers.update(headers)
        case.cookies.clear()
        for name, own in KNOWN.items():
            if name in case.path_parameters and random.random() < 0.7:
                case.path_parameters[name] = own
        answer = case.call(app=shared.app, base_url="http://localhost")
        case.validate_response(answer, checks=held)

    before = len(shared.log)
    asked()
    assert len(shared.log) > before
