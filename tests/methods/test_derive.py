import pytest
from pydantic import ValidationError

from sfumato.methods.derive import Derive
from tests.methods.tables import BOOK, run

LAWFUL = [Derive(column="new", formula="x / y > 5 or n < 30", role="key")]


def test_derive():
    ran = run(Derive(column="old", formula="age > 25", role="key"))
    assert ran.after.frame["old"].to_list() == [False, True, None, True]
    assert ran.after.codebook["old"].role == "key"
    assert ran.after.codebook["old"].kind == "categorical"


def test_derive_refuses_what_is_not_in_the_grammar_or_the_data():
    with pytest.raises(ValidationError):
        Derive(column="x", formula="__import__('os')")
    assert "there is no column 'nope'" in Derive(column="x", formula="nope + 1").check(BOOK)[0]
    assert "sfumato's own" in Derive(column="sfumato:x", formula="age").check(BOOK)[0]
