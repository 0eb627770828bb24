"""Pages of the studio without a browser."""

from tests.parts import needs


def pytest_collection_modifyitems(items):
    """Pages need htmx and Pico CSS."""
    for item in items:
        if "/web/studio/pages/" in item.path.as_posix():
            item.add_marker(needs("vendor"))
