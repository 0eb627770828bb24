"""Files opened from the page Data: of the start folder, sent, invented; and those that cannot be."""

import pytest

from sfumato.api.read import read
from sfumato.errors import SfumatoError
from sfumato.web.studio.uploads import _named
from tests.web.studio.pages.test_data import folder, opened, rows, shown

__all__ = ["folder", "opened"]


def sent(page, name, content, **fields):
    return page.client.post("/pages/data/upload", data=fields, files={"file": (name, content)})


def left(page):
    return list(page.studio.uploads.rglob("*")) if page.studio.uploads.exists() else []


def test_without_a_file_those_of_the_folder_are_offered(opened):
    page = opened(None)
    text = page.see("/data", file="people.csv")
    assert "<option selected>people.csv</option>" in text
    assert "notes.docx" not in text
    answer = page.send("/pages/data/open", name="people.csv")
    assert answer.headers["HX-Redirect"] == "/data?file=people.csv"
    assert "name" in shown(page.see("/pages/data/variables", wait=True))
    assert "but <bdi>people.csv</bdi> is open" in page.see("/data", file="other.csv")


@pytest.mark.parametrize("name", ["../people.csv", "plan.yaml", "", "/etc/passwd"])
def test_nothing_else_is_opened(opened, name):
    page = opened(None)
    assert page.send("/pages/data/open", name=name).headers["HX-Retarget"] == "#alarm"
    assert page.studio.closed


def test_a_bad_file_has_the_sentence_of_the_command_line(opened, folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(SfumatoError) as raised:
        read("broken.csv")
    page = opened(None)
    answer = page.send("/pages/data/open", name="broken.csv")
    sentence = str(raised.value).replace("'", "&#39;")
    assert sentence in answer.text
    assert page.studio.closed
    assert sentence in sent(page, "broken.csv", (folder / "broken.csv").read_bytes()).text
    assert left(page) == []


def test_a_file_that_is_broken_from_the_start_can_be_read_otherwise(opened):
    page = opened("broken.csv")
    text = page.see("/pages/data/variables")
    assert "The file cannot be read" in text
    assert "Rows above the table" in text
    assert "There is none while the file cannot be read" in page.see("/pages/plan")
    page.send("/pages/data/reread", delimiter=";")
    assert page.studio.opened.table.columns == ["a,b"]


def test_a_file_is_sent_and_goes_when_another_is_opened(opened, folder):
    page = opened(None)
    answer = sent(page, "sent.csv", rows().encode(), delimiter=",", skip_rows="0")
    assert answer.headers["HX-Redirect"] == "/data?file=sent.csv"
    path = page.studio.opened.source.path
    assert path.read_text() == rows()
    assert path.stat().st_mode & 0o077 == 0
    assert page.studio.beside == folder / "sent.plan.yaml"
    assert "in the folder where the studio was started" in page.see("/pages/plan")
    page.send("/pages/data/open", name="people.csv")
    assert left(page) == []


@pytest.mark.slow
def test_a_plan_that_was_changed_is_not_lost_unasked(opened):
    page = opened()
    page.send("/pages/data/variable", name="age", key="role", value="outcome")
    written = page.studio.planned.text
    assert page.send("/pages/data/demo").headers["HX-Retarget"] == "#alarm"
    assert "Keep the plan as it is" in page.see("/pages/data/choose")
    assert "HX-Redirect" in page.send("/pages/data/open", name="people.csv", keep="yes").headers
    assert page.studio.planned.text == written
    page.send("/pages/data/open", name="people.csv", keep="no")
    assert page.studio.planned.text != written


def test_the_demo_cohort_is_opened(opened):
    page = opened(None)
    assert page.send("/pages/data/demo").headers["HX-Redirect"] == "/data?file=cohort.csv"
    assert page.studio.opened.table.frame.height == 2000


def test_what_is_cut_off_leaves_nothing(opened):
    page = opened(None)
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\n1,2\n'
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = page.client.post("/pages/data/upload", content=body, headers=kind)
    assert "did not come whole" in answer.text
    assert left(page) == []
    answer = page.client.post("/pages/data/upload", content=b"nonsense", headers=kind)
    assert "did not come whole" in answer.text
    assert left(page) == []
    assert "Choose a file first" in sent(page, "", b"").text or left(page) == []


def test_what_the_disk_has_no_room_for_is_refused(opened, monkeypatch):
    page = opened(None)
    room = type("Room", (), {"free": (256 << 20) + 100})
    monkeypatch.setattr("sfumato.web.studio.uploads.shutil.disk_usage", lambda _: room)
    answer = sent(page, "a.csv", b"a,b\n" + b"1,2\n" * 100)
    assert "not enough room on the disk" in answer.text
    assert left(page) == []


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("../../a.csv", "a.csv"),
        ("C:\\data\\a.csv", "a.csv"),
        ("a\u202evsc.csv", "avsc.csv"),
        ("<b>.csv", "b.csv"),
        (".csv", "csv"),
        ("..", "file"),
        ("é" * 200 + ".sav", "é" * 75 + ".sav"),
    ],
)
def test_names_lead_nowhere_else(given, name):
    assert _named(given) == name
