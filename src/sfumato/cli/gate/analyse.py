"""`sfumato gate analyse`: a model or a statistic, decided and remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.gate.answering import parts, tell
from sfumato.cli.gate.running import Config, chosen_dataset, opened
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "analyse"]

EXAMPLE = 'Example: sfumato gate analyse ann logistic "hiv ~ age + C(town)" --config gate.yaml'


def analyse(
    who: Annotated[str, typer.Argument(help="Who asks; public for the public.")],
    kind: Annotated[str, typer.Argument(help="What is asked for: crosstab, chi2, mean, linear, logistic, cox, ...")],
    formula: Annotated[str, typer.Argument(help="As y ~ a + C(b); a level stands in backticks: `age@band10`.")],
    config: Config,
    dataset: Annotated[str | None, typer.Option(help="The data set, where there are several.")] = None,
    version: Annotated[str | None, typer.Option(help="Its version; else the newest.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE=GROUP", help="Only records of this group. Repeat it."),
    ] = None,
    event: Annotated[str | None, typer.Option(help="Who had the event, for survival and cox.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Who belongs together, for mixed.")] = None,
    probability: Annotated[str | None, typer.Option(help="Of a quantile: 0.5.")] = None,
    positive: Annotated[str | None, typer.Option(help="The value of a binary response that counts as 1.")] = None,
    project: Annotated[
        bool, typer.Option("--project", help="Only records without any missing value: one scope for many models.")
    ] = False,
    protected: Annotated[
        bool, typer.Option("--protected", help="With noise, though an exact answer may be had.")
    ] = False,
    key: Annotated[str | None, typer.Option(help="Of the request: the same key gets the same answer.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write the figures to (.csv).")] = None,
    json: Json = False,
) -> None:
    """Ask for a model or a statistic on somebody's behalf: exact where its tables are safe, else with noise.

    Exit status 1 where it is not granted; what could be had instead is offered.
    """
    from sfumato.cli.talk import refuse_same

    options = {"probability": probability, "positive": positive}
    given = {name: value for name, value in options.items() if value is not None}
    given |= {"complete_cases": "project"} if project else {}
    refuse_same(out, config)
    with opened(config) as gate:
        chosen = chosen_dataset(gate, dataset)
        answer = gate.analyse(
            who,
            chosen,
            kind,
            formula,
            where=parts(where),
            version=version,
            event=event,
            cluster=cluster,
            key=key,
            options={**given, **({"protected": True} if protected else {})},
        )
    tell(answer, out, json)
