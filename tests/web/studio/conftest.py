"""A studio behind its door, on a small file, with somebody who holds the cookie."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import sfumato as sf
from sfumato.release.secret import Secret
from sfumato.web.studio.application import serve
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio

PORT = 8765
HERE = f"http://127.0.0.1:{PORT}"
COLUMNS = ("id", "nhs_number", "sex", "region", "smoker", "height", "bmi", "asthma")


@dataclass(eq=False)
class Visit:
    """A studio, and a client that holds its cookie."""

    studio: Studio
    client: TestClient
    folder: Path

    def stranger(self) -> TestClient:
        """A client without a cookie."""
        return TestClient(self.client.app, HERE, raise_server_exceptions=False, client=("127.0.0.1", 1))

    @property
    def tag(self) -> str:
        """Of the plan as it is."""
        return str(self.client.get("/api/plan").headers["ETag"])

    def change(self, method: str, path: str, **more):
        """A change, with the header that changes need, and the plan's tag."""
        headers = {"X-Sfumato": "1", "If-Match": self.tag, **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)


def write_cohort(path: Path, n: int = 250) -> Path:
    sf.examples.cohort(n).select(COLUMNS).write_csv(path)
    return path


@pytest.fixture(scope="module")
def visit(tmp_path_factory) -> Iterator[Visit]:
    """One for a module: tests that change the plan leave it as it was."""
    folder = tmp_path_factory.mktemp("studio")
    studio = Studio(folder, Source(write_cohort(folder / "cohort.csv")), None, Secret(bytes(range(32))))
    client = TestClient(serve(studio, PORT), HERE, raise_server_exceptions=False, client=("127.0.0.1", 1))
    client.get("/", params={"token": studio.keys.token()})
    yield Visit(studio, client, folder)
    studio.close()
