import pytest

from tests.release.brief import measured_briefly, sketched


@pytest.fixture
def few_measures():
    """See `tests.release.brief`."""
    with measured_briefly():
        yield


@pytest.fixture(scope="module", autouse=True)
def sketches():
    """See `tests.release.brief`."""
    with sketched():
        yield
