"""What goes wrong, or is meant to, in a real browser: odd names, other sites, a server or worker that ends."""

from __future__ import annotations

import csv
import io
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module

import pytest

from sfumato.data.unseen import seen
from tests.e2e.test_studio import ENDLESS, PLAN, folder, running, started, workers
from tests.e2e.test_studio_protect_browser import faults
from tests.parts import need

__all__ = ["folder"]

pytestmark = pytest.mark.browser

SCRIPT = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
NAMES = (
    SCRIPT,
    "\" autofocus onfocus='window.hacked=1' hx-on:load='window.hacked=1",
    "\u202etxet \u05e9\u05dc\u05d5\u05dd",
    "{{7*7}}</textarea></svg>${window.hacked=1}",
    "javascript:window.hacked=1",
)
SEARCH = {"parameter": "steps.0.k", "low": 3, "high": 4, "limits": ["linkage_nearest <= 1"], "grid": 0}
PAGES = ("/data", "/risk", "/protect", "/protect?step=0", "/trade-off", "/release", "/analyse")


@contextmanager
def entered(browser, studio):
    """A page of a studio that runs; the token was spent for another client's cookie, which the page gets as well."""
    need("vendor")
    context = browser.new_context()
    base = str(studio.client.base_url).rstrip("/")
    cookies = [{"name": name, "value": value, "url": base} for name, value in studio.client.cookies.items()]
    context.add_cookies(cookies)
    page = context.new_page()
    page.studio = base
    yield page
    context.close()


def odd(folder):
    """A file and a plan whose names, labels, categories and title are code, or run from right to left."""
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(["id", *NAMES])
    for i in range(60):
        rows.writerow([i, SCRIPT if i % 2 else "\u202eb", NAMES[1] if i % 3 else "c", i * 7 % 11, i % 5, NAMES[3]])
    (folder / "odd.csv").write_text(written.getvalue())
    named = ["'" + name.replace("'", "''") + "'" for name in NAMES]
    label = f"label: '{SCRIPT}'"
    lines = [
        "sfumato: 1",
        f"title: '{SCRIPT}'",
        "variables:",
        "  id: {role: record}",
        f"  {named[0]}: {{role: key, kind: categorical, {label}}}",
        f"  {named[1]}: {{role: key, kind: categorical, {label}}}",
        f"  ? {named[2]}",
        "  : {role: key, kind: integer}",
        f"  {named[3]}: {{role: sensitive, kind: categorical}}",
        f"  {named[4]}: {{role: other, kind: categorical}}",
        "steps:",
        f"  - {{do: centroids, columns: [{named[2]}], k: 3, grouping: mdav}}",
        "",
    ]
    (folder / "odd.plan.yaml").write_text("\n".join(lines))


def test_names_labels_categories_and_titles_that_are_code_are_texts(browser, tmp_path):
    odd(tmp_path)
    with running(tmp_path, "odd.csv", "--plan", "odd.plan.yaml") as studio, entered(browser, studio) as page:
        assert studio.ask("GET", "/api/data").json()["columns"][1]["name"] == SCRIPT
        studio.until(studio.begin("protect", {"force": True}))
        studio.until(
            studio.begin(
                "tune", {"parameter": "steps.0.k", "low": 3, "high": 4, "limits": ["k_anonymity >= 1"], "grid": 0}
            )
        )
        met = []
        page.on("dialog", lambda dialog: met.append(dialog.message))
        page.on("pageerror", lambda error: met.append(str(error)))
        page.on("console", lambda message: met.append(message.text))
        for path in PAGES:
            page.goto(page.studio + path)
            page.wait_for_load_state("networkidle")
            assert page.locator("img[src=x]").count() == 0
            assert page.evaluate("window.hacked === undefined")
            assert page.locator("body").inner_text().count("49</textarea>") == 0
        assert met == []
        page.goto(page.studio + "/data")
        page.get_by_role("rowheader", name=SCRIPT).first.wait_for()
        page.get_by_role("rowheader", name=seen(NAMES[2])).first.wait_for()


@contextmanager
def other_site(content):
    """A page on another port of this machine, and what is asked of it."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


FOREIGN = """<!doctype html><title>foreign</title>
<a id="link" href="{to}/data">look</a>
<form id="post" method="post" action="{to}/pages/plan/undo"><button>go</button></form>
<iframe id="frame" src="{to}/data"></iframe><img id="picture" src="{to}/favicon.svg">
<script src="{to}/api/plan"></script>"""
FETCHES = """async (to) => {
  const told = [];
  for (const path of ["/api/plan", "/data", "/api/undo", "/api/jobs/x"]) {
    for (const how of [{}, {method: "POST", body: "x"}, {method: "DELETE"}, {headers: {"X-Sfumato": "1"}}]) {
      for (const mode of ["no-cors", "cors"]) {
        try {
          const answer = await fetch(to + path, {...how, mode, credentials: "include"});
          told.push([answer.type, answer.status, (await answer.text()).length]);
        } catch { told.push("refused"); }
      }
    }
  }
  return told;
}"""


def test_a_page_on_another_port_gets_nothing_and_changes_nothing(browser, folder):
    with running(folder, "cohort.csv", "--plan", "plan.yaml") as studio, entered(browser, studio) as page:
        studio.change("POST", "/api/edit", json={"op": "set", "path": ["steps", 1, "sd"], "value": 3})
        before = studio.ask("GET", "/api/plan").text
        page.goto(page.studio + "/data")  # the cookie is good
        page.get_by_role("heading", name="Data", exact=True).wait_for()
        with other_site(FOREIGN.format(to=page.studio)) as site:
            page.goto(site)
            told = page.evaluate(FETCHES, page.studio)
            assert {tuple(one) if isinstance(one, list) else one for one in told} <= {"refused", ("opaque", 0, 0)}
            assert page.evaluate("document.getElementById('picture').naturalWidth") == 0
            assert "sex" not in page.frames[1].content()
            for way in ("#link", "#post button"):
                page.goto(site)
                with page.expect_navigation():
                    page.click(way)
                assert "This door is closed" in page.content() or "Another site" in page.content()
        assert studio.ask("GET", "/api/plan").text == before


def test_what_was_typed_stays_when_the_server_ends(browser, tmp_path, folder):
    (tmp_path / "cohort.csv").write_bytes((folder / "cohort.csv").read_bytes())
    (tmp_path / "plan.yaml").write_text(PLAN)
    with running(tmp_path, "cohort.csv", "--plan", "plan.yaml") as studio, entered(browser, studio) as page:
        page.goto(page.studio + "/protect")
        text = page.get_by_label("The plan as YAML")
        text.fill(PLAN + "# mine\n")
        page.get_by_text("Take what was typed, and it counts").wait_for()
        studio.process.terminate()
        assert studio.process.wait(20) == 0
        page.get_by_role("button", name="Take what was typed").click()
        page.get_by_role("alert").filter(has_text="cannot be reached").wait_for()
        assert text.input_value() == PLAN + "# mine\n"
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        page.get_by_role("alert").filter(has_text="keeps what you typed").wait_for()
        asked = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
        with page.expect_event("close"):
            page.close(run_before_unload=True)  # it asks before what was typed is lost
        assert asked == ["beforeunload"]


def test_a_worker_that_is_killed_is_a_sentence_on_the_page(browser, folder):
    with started(folder, "cohort.csv", "--plan", "plan.yaml") as studio, entered(browser, studio) as page:
        page.goto(page.studio + "/trade-off")
        job = studio.begin("tune", ENDLESS)
        studio.until(job, lambda told: told["message"])
        page.reload()  # a page that is opened again finds the work
        page.get_by_role("button", name="Cancel").wait_for()
        assert faults(page) == []
        for worker in workers(studio.process.pid):
            worker.kill()
        page.get_by_role("alert").filter(has_text="perhaps the memory of this machine did not do").wait_for()
        assert faults(page) == []


def test_a_plan_that_somebody_else_wrote_over_is_left_and_the_page_says_so(browser, tmp_path, folder):
    (tmp_path / "cohort.csv").write_bytes((folder / "cohort.csv").read_bytes())
    (tmp_path / "plan.yaml").write_text(PLAN)
    kept = tmp_path / "cohort.plan.yaml"
    with running(tmp_path, "cohort.csv", "--plan", "plan.yaml") as studio, entered(browser, studio) as page:
        page.goto(page.studio + "/protect")
        page.get_by_role("button", name="Keep it there").click()
        page.get_by_text("Kept in cohort.plan.yaml").wait_for()
        assert kept.read_text() == PLAN
        kept.write_text("sfumato: 1\ntitle: of a colleague\n")
        page.get_by_label("The plan as YAML").fill(PLAN + "# mine\n")
        page.get_by_role("button", name="Take what was typed").click()
        page.get_by_role("alert").filter(has_text="neither read nor wrote").wait_for()
        assert faults(page) == []
        assert studio.ask("GET", "/api/plan").text == PLAN + "# mine\n"
        assert kept.read_text().endswith("of a colleague\n")
        page.get_by_role("button", name="Go on with that one").click()
        page.get_by_text("Kept in cohort.plan.yaml").wait_for()
        page.get_by_role("button", name="Undo").click()  # what was typed can be had again
        expect = import_module("playwright.sync_api").expect
        expect(page.get_by_label("The plan as YAML")).to_have_value(PLAN + "# mine\n")
        assert kept.read_text() == PLAN + "# mine\n"


def test_a_file_that_changed_is_told_and_read_again(browser, tmp_path, folder):
    content = (folder / "cohort.csv").read_text()
    (tmp_path / "cohort.csv").write_text(content)
    with running(tmp_path, "cohort.csv") as studio, entered(browser, studio) as page:
        page.goto(page.studio + "/data")
        page.get_by_role("rowheader", name="region").first.wait_for()
        (tmp_path / "cohort.csv").write_text("\n".join(content.splitlines()[:201]) + "\n")
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        page.get_by_text("was changed on disk").wait_for()
        assert faults(page) == []
        assert studio.ask("POST", "/api/protect", json={}).status_code == 422
        page.get_by_role("button", name="Read it again").click()
        page.wait_for_url("**plan=**")
        assert studio.ask("GET", "/api/data").json()["records"] == 200
