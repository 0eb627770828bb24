"""Templates: escaped, complete, and refused without the files of others."""

import pytest

from sfumato.web.layout.rendering import VENDOR, _environment, _seen, refuse_without_vendor
from sfumato.web.problems import Problem
from sfumato.web.static_files import StaticFiles


def test_all_templates_can_be_read():
    environment = _environment()
    names = [name for name in environment.list_templates() if name.endswith(".html.j2")]
    assert len(names) > 20
    for name in names:
        environment.get_template(name)


def test_figures_are_written_for_people():
    figure = _environment().filters["figure"]
    assert [figure(one) for one in (1234567, -5, 0.1234567, "text", 2.0)] == [
        "1,234,567",
        "−5",
        "0.123457",
        "text",
        "2",
    ]


def test_pages_need_the_files_of_others(tmp_path):
    for name in VENDOR[:1]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    with pytest.raises(Problem) as found:
        refuse_without_vendor(StaticFiles([tmp_path]))
    assert "make vendor" in found.value.detail


def test_characters_that_are_not_seen_are_written_out_but_not_in_what_forms_send():
    page = (
        '<p title="a\u202eb" class="x">c\u202e d\n</p><input value="a\u202eb" aria-label="of a\u202eb">'
        "<textarea name='t'>a\u202eb</textarea><svg><text>a\x07b</text></svg>"
    )
    assert _seen(page) == (
        '<p title="a\\u202Eb" class="x">c\\u202E d\n</p><input value="a\u202eb" aria-label="of a\\u202Eb">'
        "<textarea name='t'>a\u202eb</textarea><svg><text>a\\u0007b</text></svg>"
    )
