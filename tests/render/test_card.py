import io

from rich.console import Console

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Additive, Disclosure, Dropped
from sfumato.release.package.card import Card, Entry
from sfumato.release.package.papers import Papers
from sfumato.render.card import show_card


def shown(entries, parts, tmp_path):
    types = {"a": "number", "b": "string"}
    data = tmp_path / "data.csv"
    papers = Papers("A [bold]title", "2026-01-01", "1", data, types, Codebook(), Disclosure(parts), "x")
    out = io.StringIO()
    show_card(Card(papers, entries), Console(file=out, width=100))
    return out.getvalue()


def test_a_person_reads_strength_reliability_and_what_to_do(tmp_path):
    part = Additive(("a",), [[4.0]], rounded={"a": 0.125})
    text = shown((Entry("a", "additive", {}, 2.0, 0.9, (), part.sentence(), 0.125),), [part], tmp_path)
    assert "A [bold]title" in text
    assert " a " in text
    assert "0.9" in text
    assert "measurement-error" in text
    assert "Multiples of" in text
    assert text.count("0.125") == 2  # in the table and in words
    assert "set to a bound" not in text
    assert "As they were: b." in text


def test_long_cards_are_cut_and_clipping_is_said(tmp_path):
    part = Additive(("a",), [[4.0]], clipped=True)
    entries = tuple(Entry("a", "additive", {"ward": i}, 2.0, None, (), "") for i in range(50))
    text = shown(entries, [part], tmp_path)
    assert "and 10 more" in text
    assert "set to a bound" in text


def test_without_noise_there_is_no_table(tmp_path):
    text = shown((), [Dropped(columns=("name",))], tmp_path)
    assert "sd of the noise" not in text
    assert "left out of the release" in text
