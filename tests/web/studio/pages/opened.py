"""A studio on a small file, and somebody who looks at its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from sfumato.errors import SfumatoError
from sfumato.progress import quiet
from sfumato.release.secret import Secret
from sfumato.web.studio.application import serve
from sfumato.web.studio.jobs import Job, Jobs
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio
from sfumato.web.studio.tasks import TASKS, Work

PORT = 8765
PLAN = """\
sfumato: 1
title: Small
variables:
  id: {role: record}
  age: {role: key, kind: integer}
  dose: {role: other, kind: continuous}
steps:
  - {do: centroids, columns: [age, dose], k: 3, grouping: mdav}
limits:
  - {measure: linkage_nearest, at_most: 0.9}
unknown:
  - {columns: [id], because: "numbers drawn for this file alone"}
"""


class Here(Jobs):
    """Work that is done at once, in this process: journeys in a browser have one of its own."""

    def start(self, work: Work) -> Job:
        """Do it."""
        job = self._jobs[str(len(self._jobs))] = Job(str(len(self._jobs)), work)
        try:
            job.tell(state="done", result=TASKS[work.task](work, quiet))
        except SfumatoError as error:
            job.tell(state="failed", message=str(error))
        return job


class Looking:
    """Somebody with the cookie."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        studio.jobs = Here()
        self.client = TestClient(serve(studio, PORT), base_url=f"http://127.0.0.1:{PORT}")
        cookie = studio.keys.spend(studio.keys.token())
        self.client.cookies.set(f"sfumato_studio_{PORT}", cookie or "")
        self.client.headers["X-Sfumato"] = "1"

    def see(self, path: str, **how: Any) -> str:
        """A page, or a part of one."""
        answer = self.client.get(path, **how)
        assert answer.status_code == 200, answer.text
        return answer.text

    def send(self, path: str, **how: Any) -> str:
        """A form."""
        answer = self.client.post(path, **how)
        assert answer.status_code == 200, answer.text
        assert " style=" not in answer.text
        return answer.text


def words(text: str) -> str:
    """What a page says, without tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text))


@contextmanager
def looking(folder: Path, plan: str | None = PLAN) -> Iterator[Looking]:
    """Open a studio in a folder; without a plan no file is open."""
    rows = [f"{i},{20 + i * 7 % 40},{i * 3 % 11}.5" for i in range(60)]
    (folder / "small.csv").write_text("\n".join(["id,age,dose", *rows, ""]))
    source = None
    if plan is not None:
        (folder / "small.plan.yaml").write_text(plan)
        source = Source(folder / "small.csv")
    studio = Studio(folder, source, folder / "small.plan.yaml" if plan else None, Secret(bytes(32), repeatable=False))
    try:
        yield Looking(studio)
    finally:
        studio.close()
