import pytest

from tests.release.brief import measured_briefly


@pytest.fixture
def few_measures():
    """See `tests.release.brief`."""
    with measured_briefly():
        yield
