"""A studio that is open on a small file, and whoever holds its cookie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
from starlette.testclient import TestClient

from sfumato.release.secret import Secret
from sfumato.web.studio.application import serve
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio

PLAN = """sfumato: 1
title: People
variables:
  id: {role: record}
  sex: {role: key, kind: categorical}
  age: {role: key, kind: integer}
  income: {role: other, kind: continuous}
  ill: {role: sensitive, kind: categorical}
steps:
  # incomes are blurred
  - {do: noise, columns: [income], share: 0.1}  # a little
  - {do: recode, columns: [age], band: [40, 60]}
limits:
  - {measure: k_anonymity, at_least: 3}
"""


def people(n: int = 120) -> pl.DataFrame:
    """Invented people."""
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(20, 80, n),
            "income": rng.normal(2000, 300, n).round(2),
            "ill": rng.choice(["yes", "no"], n),
        }
    )


@contextmanager
def entered(folder: Path, plan: str = PLAN) -> Iterator[tuple[Studio, TestClient]]:
    """A studio on these people, with a plan, and a browser that came in by a token."""
    people().write_csv(folder / "people.csv")
    (folder / "plan.yaml").write_text(plan)
    studio = Studio(folder, Source(folder / "people.csv"), folder / "plan.yaml", Secret(bytes(range(32))))
    headers = {"X-Sfumato": "1"}
    client = TestClient(serve(studio, 8765), base_url="http://127.0.0.1:8765", headers=headers)
    assert client.get(f"/?token={studio.keys.token()}").status_code == 200
    try:
        yield studio, client
    finally:
        studio.close()
