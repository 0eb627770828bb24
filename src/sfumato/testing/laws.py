"""The laws of one method or measure, as a list of checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.errors import PlugInError
from sfumato.measures.measure import Measure
from sfumato.measures.registry import measures
from sfumato.methods.base import Method
from sfumato.methods.registry import methods
from sfumato.testing.measures import MeasureLaws
from sfumato.testing.methods import StepLaws
from sfumato.testing.subjects import subjects_for
from sfumato.testing.tables import PEOPLE, with_missing

__all__ = ["Law", "laws"]


@dataclass(frozen=True)
class Law:
    """A law: call it, and it raises `AssertionError` where it is broken.

    Parameters
    ----------
    name
        What it says, with underscores, as names of tests are written.
    holds
        Tries it.
    """

    name: str
    holds: Callable[[], None] = field(repr=False)

    def __call__(self) -> None:
        """Try it.

        Raises
        ------
        AssertionError
            It is broken; with the column or figure that shows it, and no value.
        """
        self.holds()

    def __str__(self) -> str:
        return self.name


def laws(
    method_or_measure: Method | Measure,
    *,
    data: pl.DataFrame | None = None,
    codebook: Codebook | None = None,
    on: str | None = None,
) -> tuple[Law, ...]:
    """The laws that our own methods and measures keep, for one of another package.

    They look at what no single test of results would: that a release depends neither on the order of the records, nor
    on how many are worked on at once, nor on whether they fit into memory; that the same secret gives the same release;
    that a plan keeps every parameter; that nothing else is changed, and that no value of the data stands in what is
    published. They do not look at whether a method protects, or a measure is right.

    Parameters
    ----------
    method_or_measure
        A step, which is a method with its parameters; or a measure. The package that brings it must be installed, with
        its entry point.
    data
        An invented table for a step, with a record's id and some hundred records; by default
        `sfumato.testing.with_missing()`.
    codebook
        Of that table; by default `sfumato.testing.PEOPLE`.
    on
        For a measure, which of our subjects: `surveyed`, `noisy`, `averaged`, `alone`, `wildcards` or `again`. By
        default the first of these that has what it needs.

    Returns
    -------
    tuple of Law
        One for each law. They share what is computed: the first that is called takes longest.

    Raises
    ------
    PlugInError
        No entry point leads to it, or it is a measure that needs what none of our tables has.

    Examples
    --------
    >>> import sfumato as sf
    >>> for law in laws(sf.steps.Noise(columns=["x"], share=0.1)):
    ...     law()

    With pytest, each law is a test::

        @pytest.mark.parametrize("law", laws(Round(columns=["x"], to=5)), ids=str)
        def test_it_is_lawful(law):
            law()
    """
    if isinstance(method_or_measure, Measure):
        return _of_measure(method_or_measure, on)
    if type(method_or_measure) not in methods().values():
        raise PlugInError(_not_installed("method", "sfumato.methods"))
    held = StepLaws(
        method_or_measure, with_missing() if data is None else data, PEOPLE if codebook is None else codebook
    )
    return _named(
        held.order_changes_nothing,
        held.partition_changes_nothing,
        held.every_engine_gives_the_same,
        held.ids_and_other_columns_survive,
        held.reads_back_from_yaml_as_itself,
        held.any_parameter_changes_the_hash,
        held.same_secret_same_release,
        held.input_stays_and_nothing_hidden_leaves,
        held.another_secret_changes_only_draws,
        held.disclosure_speaks_of_known_columns,
        held.no_value_is_in_a_sentence,
        held.it_asks_and_gathers_as_it_says,
        held.a_missing_column_is_refused,
    )


def _of_measure(measure: Measure, on: str | None) -> tuple[Law, ...]:
    if measure not in measures().values():
        raise PlugInError(_not_installed("measure", "sfumato.measures"))
    cases = subjects_for(measure)
    if not cases or on not in (None, *cases):
        raise PlugInError(
            f"The measure needs what this subject has not. It can be tried on: {', '.join(cases) or 'none'}."
        )
    held = MeasureLaws(measure, on or cases[0])
    return _named(
        held.words_are_complete,
        held.every_figure_has_lines,
        held.every_line_is_one_of_its_figures_and_told_once,
        held.a_figure_is_a_number_or_none,
        held.no_value_is_in_a_message,
        held.categories_name_single_classes_and_coefficients_only,
        held.what_is_published_hides_what_was_planted,
        held.each_figure_is_published_as_it_says,
        held.what_nothing_speaks_of_is_kept_back,
        held.lines_are_told_in_words,
        held.limits_can_name_it,
        held.order_changes_nothing,
        held.every_engine_gives_the_same,
        held.without_what_it_needs_it_is_skipped,
    )


def _named(*held: Callable[[], None]) -> tuple[Law, ...]:
    return tuple(Law(one.__name__, one) for one in held)


def _not_installed(what: str, group: str) -> str:
    return (
        f"No entry point of the group {group!r} leads to this {what}. Name it in your package's pyproject.toml, and "
        "install the package (pip install --editable .)."
    )
