"""CPU time of client and server for questions about a table of PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.ledger import postgresql

ROWS = 10**6
BAR = 0.9
"""CPU seconds for 10^6 rows."""
_TABLE = f"""
CREATE TABLE cohort AS SELECT i AS id, CASE i % 9 WHEN 0 THEN NULL ELSE 'region ' || i % 9 END AS region,
  (i % 2)::int2 AS sex, 18 + 20 * random() AS bmi, 150 + 50 * random() AS height, 50 + 60 * random() AS weight,
  10 ^ (3 + 2 * random()) AS income, (random() * 90)::int4 AS age, i % 3 = 0 AS smoker,
  '2020-01-01'::date + i % 1000 AS day FROM generate_series(1, {ROWS}) AS i
"""


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    command = [sys.executable, "-m", "benchmarks.postgresql"]
    threads = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=threads)
    told = json.loads(done.stdout.splitlines()[-1])
    moments, what = told["moments"], "moments of a column by region, PostgreSQL, 10^6 rows"
    return [
        (what, f"{moments:.2f} CPU s", f"≤ {BAR} CPU s", moments <= BAR),
        ("  counts by region and sex", f"{told['counts']:.2f} CPU s", "told", True),
        ("  class sizes of four keys", f"{told['classes']:.2f} CPU s", "told", True),
        ("  all ten columns streamed", f"{told['all']:.2f} CPU s", "told", True),
    ]


def main() -> None:
    """Measure each question and print its cost as JSON."""
    import psutil
    import psycopg

    from sfumato.data.query import Classes, Counts, Moments
    from sfumato.engines.postgresql import open_table

    with tempfile.TemporaryDirectory() as name, postgresql(Path(name)) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_TABLE)
            connection.execute("VACUUM ANALYZE cohort")
            host = psycopg.conninfo.conninfo_to_dict(url)["host"]
        os.environ |= {"PGHOST": str(host), "PGUSER": "postgres"}
        postmaster = psutil.Process(int((Path(name) / "pg" / "postmaster.pid").read_text().split()[0]))

        def spent() -> float:
            """Of this process and of every one of the server, those that have ended too."""
            times = [process.cpu_times() for process in [postmaster, *postmaster.children(recursive=True)]]
            return time.process_time() + sum(sum(one[:4]) for one in times)  # own and children's, user's and system's

        told = {}
        with open_table("postgresql:///postgres/public.cohort") as data:
            data.ask(Moments(("age",)))  # what is compiled once
            works = {
                "moments": lambda: data.ask(Moments(("bmi",), ("region",))),
                "counts": lambda: data.ask(Counts(("region", "sex"))),
                "classes": lambda: data.ask(Classes(("region", "sex", "age", "day"))),
                "all": lambda: sum(batch.height for batch in data.batches()),
            }
            for case, work in works.items():
                before = spent()
                work()
                told[case] = spent() - before
    print(json.dumps(told))


if __name__ == "__main__":
    main()
