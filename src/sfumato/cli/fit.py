"""`sfumato fit`: a regression on a release, with the disclosed noise taken out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from sfumato.cli.options import Json, Table

if TYPE_CHECKING:
    from sfumato.inference.covariates.moments import Hidden
    from sfumato.inference.estimators.sandwich import StandardErrors
    from sfumato.inference.fit import Method
    from sfumato.inference.outcome import Family
    from sfumato.inference.result import Fit

__all__ = ["EXAMPLE", "fit"]

EXAMPLE = "Example: sfumato fit release --formula 'asthma ~ smoke + bmi' --family probit"


def fit(
    releases: Annotated[list[Path], typer.Argument(help="Release folder; several are joined on the record id.")],
    formula: Annotated[str, typer.Option(help="The model: 'asthma ~ smoke + I(bmi^2) + C(region)'.")],
    family: Annotated[
        str,
        typer.Option(help="Family of the model: linear, probit, logit, poisson, ordered or cox."),
    ] = "linear",
    method: Annotated[
        str, typer.Option(help="How the noise is taken out: auto, corrected, ml, bayes or naive; auto suits.")
    ] = "auto",
    weight: Annotated[str | None, typer.Option(help="Column of sampling weights.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Column of clusters, for standard errors by them.")] = None,
    group: Annotated[
        str | None, typer.Option(help="Column whose categories share a random intercept, such as a school.")
    ] = None,
    slope: Annotated[str | None, typer.Option(help="Exact covariate whose slope differs between the groups.")] = None,
    hidden: Annotated[
        str, typer.Option(help="Shape of hidden numbers: auto, normal, or how many normals, from 1 to 5.")
    ] = "auto",
    reduce_bias: Annotated[
        bool, typer.Option(help="For ml: take off what noise on numbers adds to the maximum's bias.")
    ] = True,
    se: Annotated[
        str, typer.Option(help="Standard errors: auto, or robust (HC3) where there are no clusters and weights.")
    ] = "auto",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="For bayes: TERM=MEAN,SD, a normal prior on a coefficient; may stand several times."),
    ] = None,
    draws: Annotated[int, typer.Option(help="For bayes: how many draws of the posterior.")] = 4000,
    seed: Annotated[int, typer.Option(help="For bayes: what draws start from; it hides nothing.")] = 0,
    picture: Annotated[Path | None, typer.Option(help="Where to draw a forest plot: .png or .svg.")] = None,
    combine: Annotated[
        Literal["auto", "simple", "rrr", "partial", "rubin"],
        typer.Option(help="Rule by which fits of synthetic copies are combined."),
    ] = "auto",
    table: Table = None,
    json: Json = False,
) -> None:
    """Fit a regression to a release, with the noise that it discloses taken out, beside the naive fit."""
    from rich.console import Console

    from sfumato.api.fit import fit as estimate
    from sfumato.cli.talk import print_json, refuse_same
    from sfumato.cli.tune import refuse_other_picture
    from sfumato.cli.working import working
    from sfumato.render.forest import show_fit

    refuse_other_picture(picture)
    refuse_same(picture, *releases)
    shape, known = _hidden(hidden), dict(_prior(text) for text in prior or ())
    with working() as progress:
        found = estimate(
            formula,
            releases,
            family=cast("Family", family),
            method=cast("Method", method),
            weight=weight,
            cluster=cluster,
            group=group,
            slope=slope,
            level=level,
            priors=known,
            draws=draws,
            seed=seed,
            hidden=shape,
            reduce_bias=reduce_bias,
            se=cast("StandardErrors", se),
            table=table,
            combine=combine,
            progress=progress,
        )
    if picture is not None:
        _draw(found, picture)
    if json:
        print_json(found.to_plain())
    else:
        show_fit(found, Console())


def _hidden(text: str) -> Hidden:
    """A shape as it is written on the command line."""
    from sfumato.errors import DataError

    if text in ("auto", "normal"):
        return cast("Hidden", text)
    if not text.isdecimal():
        raise DataError(f"The shape of hidden numbers is auto, normal or a number; {text!r} is none of these.")
    return int(text)


def _prior(text: str) -> tuple[str, tuple[float, float]]:
    """A prior as it is written on the command line."""
    from sfumato.errors import DataError

    term, _, figures = text.rpartition("=")
    try:
        mean, sd = map(float, figures.split(","))
    except ValueError:
        raise DataError(f"A prior is written TERM=MEAN,SD, for instance smoke=0.1,0.2; {text!r} is not.") from None
    return term, (mean, sd)


def _draw(found: Fit, picture: Path) -> None:
    from sfumato.cli.talk import say
    from sfumato.data.files.atomic import replacing
    from sfumato.render.forest import forest_plot

    content = forest_plot(found, "svg" if picture.suffix.lower() == ".svg" else "png")
    with replacing(picture) as temporary:
        temporary.write_bytes(content)
    say([f"Written: {picture}"])
