"""The page, in a real browser: type, translate, look, switch, lose the server and find it again."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from heedful.serve.limits import Limits

from .conftest import SCRIPT, Running, Serving, running
from .test_guard import model_of
from .test_queue import slowed

expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=20_000)


@pytest.fixture
def opened(page, server: Running) -> Iterator:
    """The page of a server. A script that its policy forbids is an error."""
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)
    page.goto(server.url)
    expect(page.locator("#model option")).to_have_count(2)
    yield page
    assert refused == []


def test_what_is_typed_is_translated(opened, pairs) -> None:
    english, french = pairs[0]
    opened.fill("#text", english)
    expect(opened.locator("#said")).to_have_text(french)
    expect(opened.locator("#said")).to_have_attribute("data-state", "done")
    expect(opened.locator("#score")).to_have_text(re.compile(r"score -\d"))
    others = opened.locator("#nbest-list li")
    expect(others).to_have_count(3)
    assert french not in [others.nth(n).locator("span").first.inner_text() for n in range(3)]
    opened.fill("#nbest", "1")
    opened.press("#text", "Control+Enter")
    expect(opened.locator("#others")).to_be_hidden()


def test_a_translation_appears_as_it_is_decoded(page, serving: Serving, pairs) -> None:
    with serving() as server, slowed(model_of(server), 0.03):
        page.goto(server.url)
        seen = page.evaluate(
            """async ([text]) => {
                 const said = document.getElementById("said"), seen = [];
                 const over = new Promise((done) => {
                   new MutationObserver(() => {
                     seen.push(said.textContent);
                     if (said.dataset.state === "done") done();
                   }).observe(said, { childList: true, subtree: true, attributes: true });
                 });
                 document.getElementById("text").value = text;
                 document.getElementById("decode").click();
                 await over;
                 return seen;
               }""",
            [pairs[0][0]],
        )
    grown = [text for text in dict.fromkeys(seen) if pairs[0][1].startswith(text)]
    assert len(grown) > 5 and grown[-1] == pairs[0][1]


def test_html_in_a_translation_stays_words(opened) -> None:
    opened.fill("#text", "Say it.")
    expect(opened.locator("#said")).to_have_text(SCRIPT)
    opened.click("#see-attention")
    expect(opened.locator("#attention")).to_contain_text("script")
    opened.click("#see-beams")
    expect(opened.locator("#beams")).not_to_be_empty()
    assert opened.title() == "heedful: translate"
    assert opened.locator("#said *, #attention script, #beams script").count() == 0


def test_attention_answers_to_the_mouse(opened, pairs) -> None:
    opened.fill("#text", pairs[0][0])
    expect(opened.locator("#said")).to_have_text(pairs[0][1])
    expect(opened.locator("#see-attention")).to_be_enabled()
    opened.click("#see-attention")
    expect(opened.locator("#attention")).to_be_visible()
    expect(opened.locator("#see-attention")).to_have_attribute("aria-expanded", "true")
    for place in (2, 1):
        token = opened.locator("#attention .from li").nth(place)
        token.hover()
        said = f"{token.inner_text()} looks at:"
        expect(opened.locator("#attention [role=status]").first).to_contain_text(said)
    opened.click("#see-attention")
    expect(opened.locator("#attention")).to_be_hidden()


def test_the_beam_tree_is_drawn(opened, pairs) -> None:
    opened.fill("#text", pairs[0][0])
    expect(opened.locator("#see-beams")).to_be_enabled()
    opened.click("#see-beams")
    expect(opened.locator("#beams")).to_be_visible()
    expect(opened.locator("#beams")).to_contain_text("ended, and is the output")


def test_another_model_says_something_else(opened, pairs) -> None:
    opened.fill("#text", pairs[0][0])
    expect(opened.locator("#said")).to_have_text(pairs[0][1])
    opened.select_option("#model", "early")
    expect(opened.locator("#said")).not_to_have_text(pairs[0][1])
    expect(opened.locator("#said")).to_have_attribute("data-state", "done")
    opened.select_option("#model", "late")
    expect(opened.locator("#said")).to_have_text(pairs[0][1])


def test_a_lost_server_is_said_and_found_again(page, served, pairs) -> None:
    with running(served) as server:
        page.goto(server.url)
        page.fill("#text", pairs[0][0])
        expect(page.locator("#said")).to_have_text(pairs[0][1])
        port = server.address[1]
    page.fill("#text", pairs[1][0])
    expect(page.locator("#notice")).to_contain_text("The server does not answer")
    with running(served, port=port):
        expect(page.locator("#notice")).to_be_hidden()
        expect(page.locator("#said")).to_have_text(pairs[1][1])


def test_a_refusal_is_shown(page, serving: Serving) -> None:
    with serving(Limits(characters=10)) as server:
        page.goto(server.url)
        page.fill("#text", "much longer than that")
        expect(page.locator("#notice")).to_contain_text("at most 10 characters")


def test_a_token_is_asked_for_and_kept(page, serving: Serving, pairs) -> None:
    with serving(token="a-secret") as server:
        page.goto(server.url)
        page.fill("#token", "wrong")
        page.click("#enter")
        expect(page.locator("#notice")).to_contain_text("asks for a token")
        page.fill("#token", "a-secret")
        page.press("#token", "Enter")
        expect(page.locator("#entry")).to_be_hidden()
        page.fill("#text", pairs[0][0])
        expect(page.locator("#said")).to_have_text(pairs[0][1])


def test_the_last_token_counts_whatever_is_answered_first(page, serving: Serving) -> None:
    held: list[Any] = []

    def hold(route: Any) -> None:
        wrong = route.request.headers.get("authorization") == "Bearer wrong"
        held.append(route) if wrong else route.continue_()

    with serving(token="a-secret") as server:
        page.route("**/models", hold)
        page.goto(server.url)
        page.fill("#token", "wrong")
        page.click("#enter")
        page.fill("#token", "a-secret")
        page.click("#enter")
        expect(page.locator("#entry")).to_be_hidden()
        (late,) = held
        late.fulfill(status=401, json={"detail": "this server asks for a token"})
        page.evaluate("fetch('health')")  # by then the page has had the other answer
        expect(page.locator("#entry")).to_be_hidden()
        expect(page.locator("#notice")).to_be_hidden()


def test_the_api_is_described(opened) -> None:
    opened.click("text=The API")
    expect(opened.locator("h2").first).to_have_text("GET /health")
    expect(opened.locator("#doors")).to_contain_text("POST /translate/stream")
    expect(opened.locator("#doors")).to_contain_text("maxItems 64")
