"""What all tests of pages share."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def drafts_tried_once():
    """Pages show a draft, sure or not: small files are tried once, and not ten times."""
    from sfumato.tuning import drafting

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(drafting, "_FURTHER", ())
        yield
