"""Coming in and going out."""

from tests.web.gate.conftest import PASSWORD


def test_the_first_page_hangs_on_who_comes(come):
    assert come("").client.get("/").headers["location"] == "/login"
    for who in ("ann", "eve", "aud"):
        assert come(who).client.get("/").headers["location"] == "/pages/datasets"


def test_a_login_leads_to_the_first_page_with_a_cookie(come):
    nobody = come("")
    nobody.client.headers["HX-Request"] = "true"
    answer = nobody.send("/pages/login", id="ann", password=PASSWORD).answer
    assert (answer.status_code, answer.headers["hx-redirect"]) == (204, "/")
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "ann, analyst" in nobody.see("/pages/datasets").words


def test_a_login_without_the_script_keeps_the_password_out_of_the_address(come):
    nobody = come("")
    form = nobody.see("/login").text.split("<form")[1].split(">")[0]
    assert 'method="post"' in form
    assert 'action="/pages/login"' in form
    assert nobody.client.post("/pages/login", data={"id": "ann", "password": "wrong"}).text.count("<h1>") == 1
    answer = nobody.client.post("/pages/login", data={"id": "ann", "password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "ann, analyst" in nobody.see("/pages/datasets").words


def test_a_wrong_password_is_told_beside_the_form(come):
    page = come("").send("/pages/login", id="ann", password="wrong")
    assert page.answer.status_code == 200
    assert "not right" in page.words
    assert "set-cookie" not in page.answer.headers


def test_a_password_that_holds_once_asks_for_another(come, world):
    once = world.gate.add_user("new", None, "analyst", "research")
    nobody = come("")
    nobody.client.headers["HX-Request"] = "true"
    assert "choose a new one" in nobody.send("/pages/login", id="new", password=once).words
    chosen = nobody.send("/pages/login", id="new", password=once, new_password="a longer one of mine")
    assert chosen.answer.headers["hx-redirect"] == "/"


def test_logging_out_ends_the_session(come):
    ann = come("ann")
    assert ann.send("/pages/logout").answer.headers["hx-redirect"] == "/login"
    assert ann.client.get("/pages/datasets").status_code == 303


def test_pages_lead_to_the_login_and_forms_say_so(come):
    nobody = come("")
    assert nobody.client.get("/pages/ledger").headers["location"] == "/login"
    assert nobody.client.post("/pages/table/ask").status_code == 401
