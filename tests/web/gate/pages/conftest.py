"""Pages without a browser: what they say, and what their forms do."""

import re
from collections.abc import Callable, Mapping, Sequence

import pytest

from tests.parts import needs


def pytest_collection_modifyitems(items):
    """Pages need htmx and Pico CSS."""
    for item in items:
        if "/web/gate/pages/" in item.path.as_posix():
            item.add_marker(needs("vendor"))


class Page:
    """What came, as text and as plain words."""

    def __init__(self, answer) -> None:
        self.answer = answer
        self.text = answer.text

    @property
    def words(self) -> str:
        """Without tags."""
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", self.text))

    @property
    def heading(self) -> str:
        """Of the page."""
        return re.search(r"<h1>(.*?)</h1>", self.text)[1]


@pytest.fixture
def come(world) -> Callable[[str], "Visit"]:
    """Somebody who looks at pages."""
    return lambda who: Visit(world, who)


class Visit:
    """Somebody who is logged in, and looks at pages."""

    def __init__(self, world, who) -> None:
        self.client = world.session(who) if who else world.client()

    def see(self, path) -> Page:
        """A page."""
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/html")
        return Page(answer)

    def send(self, path, **fields: str | Sequence[str] | Mapping[str, str]) -> Page:
        """A form; names with odd characters come as `more`."""
        more = fields.pop("more", {})
        answer = self.client.post(path, data={**fields, **more})
        assert answer.status_code in (200, 204), answer.text
        return Page(answer)
