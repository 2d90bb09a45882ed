"""The page in a real browser: what is drawn is what was computed, by mouse, keys and ears."""

import re
from pathlib import Path

import numpy as np
import pytest

from heedful.presets.base import Decode
from heedful.seeing.attention import look
from heedful.seeing.beams import tree
from heedful.seeing.coreference import coreference
from heedful.seeing.looks import Look
from heedful.seeing.words import joined
from heedful.text.words import Words
from heedful.viz.attention import attention_page

TEXT, TARGET = "The cow ate the hay because it was delicious.", "it wasn't hungry, was it?"
OTHER = "The cow ate the hay because it was hungry."


def opened(page, folder: Path, *items: dict, pairs: tuple[dict, ...] = ()):
    """The page, from disk."""
    file = folder / "page.html"
    file.write_text(attention_page("A look", items, pairs), encoding="utf-8")
    page.goto(file.as_uri())
    return page


def becomes(page, place: tuple[float, float], colour: list[int]) -> None:
    """Wait until the heat map has this colour at a place, in shares of its size."""
    page.wait_for_function(
        """([x, y, colour]) => {
          const one = document.querySelector(".heedful-heat canvas");
          const at = [Math.floor(x * one.width), Math.floor(y * one.height), 1, 1];
          const found = one.getContext("2d").getImageData(...at).data;
          return colour.every((part, place) => found[place] === part);
        }""",
        arg=[*map(float, place), colour],
        timeout=5_000,
    )


@pytest.fixture
def seen(make) -> Look:
    return look(make(), TEXT, TARGET)


def test_the_numbers_of_the_page_are_the_models(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    ask = "([kind, layer, head]) => heedful.views[0].weights(kind, layer, head)"
    for one in seen.attended:
        for number, layer in enumerate(one.layers):
            for head, weights in enumerate(layer.weights):
                found = page.evaluate(ask, [one.kind, number, head])
                np.testing.assert_allclose(found, weights, atol=0.6 / 65_535)
            found = page.evaluate(ask, [one.kind, number, "mean"])
            np.testing.assert_allclose(found, one.mean(number), atol=0.6 / 65_535)
            found = page.evaluate(ask, [one.kind, number, "rollout"])
            np.testing.assert_allclose(found, one.rollout[number], atol=0.6 / 65_535)
        np.testing.assert_allclose(
            page.evaluate(ask, [one.kind, "mean", "mean"]), one.mean(), atol=0.6 / 65_535
        )


def test_hovering_shows_and_says_what_a_token_looks_at(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    before = page.evaluate("document.querySelector('.heedful-lines canvas').toDataURL()")
    page.locator(".from li").nth(2).hover()
    weights = seen.of("cross").mean(1)[2]
    best = int(weights.argmax())
    named = seen.of("cross").keys.tokens[best].strip()
    said = page.locator(".heedful-attention [role=status]").inner_text()
    assert f"looks at: {named} {weights[best]:.3f}" in said
    marked = page.locator(".to li").nth(best).get_attribute("data-weight")
    assert marked == f"{weights[best]:.3f}"
    assert page.evaluate("document.querySelector('.heedful-lines canvas').toDataURL()") != before


def test_the_strongest_cell_is_the_darkest(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    weights = seen.of("cross").mean(1)
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    left, top, cell = page.evaluate(
        "(({left, top, cell}) => [left, top, cell])(heedful.views[0].heat)"
    )
    wide, high = left + weights.shape[1] * cell + 1, top + weights.shape[0] * cell + 1
    place = ((left + (column + 0.5) * cell) / wide, (top + (row + 0.5) * cell) / high)
    becomes(page, place, [8, 48, 107])
    page.emulate_media(color_scheme="dark")
    becomes(page, place, [150, 205, 255])
    page.get_by_role("combobox", name="Colours").select_option("light")
    becomes(page, place, [8, 48, 107])
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.get_by_role("combobox", name="Colours").select_option("dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 29)"


def test_kinds_layers_heads_and_words_are_chosen_by_name(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    page.get_by_role("combobox", name="Kind").select_option(label="Encoder self-attention")
    page.get_by_role("combobox", name="Layer").select_option("1")
    page.get_by_role("combobox", name="Head").select_option("2")
    page.get_by_label("whole words").check()
    status = page.locator(".heedful-attention [role=status]")
    assert status.inner_text() == "Encoder self-attention, layer 1, head 2."
    one = seen.of("encoder")
    expected = joined(one.layers[0].weights[1], one.queries, one.keys)
    found = page.evaluate("Array.from(heedful.views[0].sheet.values)")
    np.testing.assert_allclose(np.reshape(found, expected.shape), expected, atol=1e-4)
    assert page.locator(".from li").all_inner_texts() == one.queries.joined

    page.get_by_text("The chosen head as a table").click()
    rows = page.get_by_role("table").filter(has_text="layer 1, head 2").get_by_role("row")
    rows.first.wait_for()
    assert rows.count() == len(one.queries.joined) + 1
    first = rows.nth(1).locator("th, td").all_inner_texts()
    order = np.argsort(-expected[0], kind="stable")[:3]
    assert first[0] == one.queries.joined[0]
    assert first[1::2] == [one.keys.joined[place] for place in order]
    assert first[2::2] == [f"{expected[0][place]:.3f}" for place in order]


def test_the_page_is_used_by_keys_alone(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    status = page.locator(".heedful-attention [role=status]")
    for _ in range(6):  # colours, kind, layer, head, words, then the tokens
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "option"
    first, second, third = seen.of("cross").queries.tokens[:3]
    assert f"{first.strip()} looks at:" in status.inner_text()
    page.keyboard.press("ArrowDown")
    assert f"{second.strip()} looks at:" in status.inner_text()
    page.keyboard.press("ArrowRight")
    assert "layer 2, rollout." in status.inner_text()
    page.keyboard.press("ArrowRight")
    assert "layer 2, head 1." in status.inner_text()
    page.keyboard.press("PageUp")
    assert "layer 1, head 1." in status.inner_text()
    page.locator(".from li").nth(5).hover()
    page.mouse.move(0, 0)  # away: the keys go on from where they were
    page.keyboard.press("ArrowDown")
    assert f"{third.strip()} looks at:" in status.inner_text()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == "<eos>"
    page.keyboard.press("Tab")
    assert (
        page.evaluate("document.activeElement.getAttribute('aria-roledescription')") == "heat map"
    )
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    last = len(seen.of("cross").queries.tokens) - 1
    key = seen.of("cross").keys.tokens[1].strip()
    weight = seen.of("cross").layers[0].weights[0][last][1]
    assert status.inner_text() == f"<eos> looks at {key}: {weight:.3f}"


def test_a_small_picture_chooses_its_head(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    button = page.get_by_role("button", name="layer 1, head 2")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert page.get_by_role("combobox", name="Head").input_value() == "1"
    assert page.locator(".heedful-heads button[aria-pressed=true]").count() == 1


def test_every_control_has_a_name_and_every_picture_words(
    page, tmp_path: Path, make, seen: Look
) -> None:
    opened(page, tmp_path, {"look": seen.to_json(), "tree": tree(make(), TEXT)})
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("select, input, button")]
          .filter((one) => !(one.labels && one.labels.length) && !one.getAttribute("aria-label"))
          .map((one) => one.outerHTML)"""
    )
    silent = page.evaluate(
        """() => [...document.querySelectorAll("canvas")].filter((one) =>
          !one.getAttribute("aria-label") && !one.getAttribute("aria-hidden")
          && !one.closest("button[aria-label]")).length"""
    )
    assert nameless == [] and silent == 0
    assert page.locator("table th[scope]").count() > 8


def test_a_screen_reader_finds_names_and_news(page, tmp_path: Path, make, seen: Look) -> None:
    """As the browser itself tells it to a screen reader, not as the page is written."""
    opened(page, tmp_path, {"look": seen.to_json(), "tree": tree(make(), TEXT)})
    page.get_by_text("The chosen head as a table").click()
    page.locator(".heedful-table tbody").first.wait_for()
    told = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    nodes = [
        (
            node["role"]["value"],
            node.get("name", {}).get("value", "").strip(),
            {one["name"]: one["value"].get("value") for one in node.get("properties", [])},
        )
        for node in told
        if not node["ignored"]
    ]
    needy = {"table", "listbox", "region", "application"}
    for role, name, more in nodes:
        assert name or not (more.get("focusable") or role in needy), (role, more)
    roles = [role for role, *_ in nodes]
    assert {"main", "heading", "status", "columnheader", "rowheader", *needy} <= set(roles)
    assert [more["live"] for role, _, more in nodes if role == "status"] == ["polite"] * 3
    assert page.get_by_role("paragraph").all_inner_texts()[:2] == [
        f"Read: {TEXT}",
        f"Said: {TARGET}",
    ]
    pressed = [name for role, name, more in nodes if more.get("pressed") == "true"]
    assert pressed == ["layer 2, mean"]


def test_an_alignment_is_drawn_with_its_words(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    rows, columns, weights = seen.alignment()
    assert page.evaluate("heedful.views[0].aligned.rows") == rows
    assert page.evaluate("heedful.views[0].aligned.columns") == columns
    found = page.evaluate("Array.from(heedful.views[0].aligned.sheet.values)")
    np.testing.assert_allclose(np.reshape(found, weights.shape), weights, atol=1e-6)


def test_text_stays_words(page, tmp_path: Path, make) -> None:
    evil = "<script>hurt=1</script> <img/src=x/onerror=hurt()> </script> <b>bold</b>"
    translator = make(tokenizer=Words().train([evil]))
    grown = tree(translator, evil)
    pair = coreference(translator, evil, f"{evil[:-11]}</script>", word="</script>")
    item = {"look": look(translator, evil, evil).to_json(), "tree": grown}
    opened(page, tmp_path, item, pairs=(pair,))
    assert page.evaluate("window.hurt") is None
    assert page.locator("#read").inner_text() == evil
    assert page.locator("main :is(img, b:not(p > b), script)").count() == 0
    assert page.locator(".from li").all_inner_texts() == [*evil.split(), "<eos>"]


def test_nothing_but_the_pages_own_script_can_run(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    page.evaluate(
        """() => {
          const one = document.createElement("script");
          one.textContent = "window.hurt = 1";
          document.body.append(one);
          document.body.insertAdjacentHTML("beforeend", "<p onclick='window.hurt = 2'>x</p>");
          document.body.lastElementChild.click();
        }"""
    )
    assert page.evaluate("window.hurt") is None
    html = (tmp_path / "page.html").read_text()
    assert not re.search(r"<[^>]+ (on\w+|style)=", html.split("<script")[0])


def test_a_long_look_is_light(page, tmp_path: Path, make, characters) -> None:
    """200 tokens, 6 layers, 16 heads: few elements, and only what is in sight is painted."""
    translator = make(tokenizer=characters, dim=32, layers=6, heads=16)
    text = ("The cow ate the hay. " * 10)[:199]
    opened(page, tmp_path, {"look": look(translator, text, text).to_json()})
    page.wait_for_timeout(100)  # for what is in sight to be noticed
    cells = 200 * 200
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    words = len(text.split()) * 2 + 1
    assert page.evaluate("heedful.painted") <= 2 * cells + words**2
    before = page.evaluate("heedful.painted")
    page.get_by_role("combobox", name="Layer").select_option("1")
    page.get_by_role("combobox", name="Head").select_option("16")
    assert page.evaluate("heedful.painted") - before == 2 * cells
    page.locator(".from li").nth(150).hover()
    assert page.evaluate("heedful.painted") - before == 2 * cells
    page.get_by_text("Heads side by side").scroll_into_view_if_needed()
    page.wait_for_timeout(100)
    assert 2 < (page.evaluate("heedful.painted") - before) / cells < 2 + 6 * 18
    page.get_by_text("The chosen head as a table").click()
    page.locator(".heedful-table tbody").first.wait_for()
    assert page.evaluate("document.querySelectorAll('*').length") < 3200


def test_all_heads_are_painted_for_the_printer(page, tmp_path: Path, seen: Look) -> None:
    opened(page, tmp_path, {"look": seen.to_json()})
    page.emulate_media(color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    buttons = page.locator(".heedful-heads button")
    assert buttons.count() == 8 == page.locator(".heedful-heads button[data-drawn]").count()
    assert page.evaluate("heedful.colour('--heat-low')") == [255, 255, 255]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.get_by_role("combobox", name="Kind").is_visible()
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("heedful.colour('--heat-low')") == [22, 24, 29]


def test_the_beam_tree_is_walked_and_told(page, tmp_path: Path, make, seen: Look) -> None:
    grown = tree(make(decode=Decode(beam=3, extra_length=3)), TEXT)
    opened(page, tmp_path, {"look": seen.to_json(), "tree": grown})
    buttons = page.locator(".heedful-nodes button")
    assert buttons.count() == len(grown["nodes"]) - 1
    for fate in {node["fate"] for node in grown["nodes"][1:]}:
        there = sum(node["fate"] == fate for node in grown["nodes"][1:])
        assert page.locator(f".heedful-nodes .fate-{fate}").count() == there

    said = page.locator(".heedful-beams [role=status]")
    buttons.nth(0).focus()
    first = grown["nodes"][1]
    assert f"log-probability {first['total']:.4f}" in said.inner_text()
    page.keyboard.press("ArrowDown")
    assert f"log-probability {grown['nodes'][2]['total']:.4f}" in said.inner_text()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    child = next(node for node in grown["nodes"] if node["parent"] == 1)
    assert f"log-probability {child['total']:.4f}" in said.inner_text()
    page.keyboard.press("ArrowLeft")
    assert f"log-probability {first['total']:.4f}" in said.inner_text()

    fell = next(p for p, node in enumerate(grown["nodes"]) if node["fate"] == "fell")
    page.locator(f".heedful-nodes [data-place='{fell}']").hover()
    assert "fell off the beam: others of this length were likelier" in said.inner_text()
    best = grown["nodes"][grown["best"][0]]
    row = page.locator(".heedful-beams tbody tr").first.locator("th, td").all_inner_texts()
    assert row[1:3] == [f"{best['score']:.4f}", f"{best['total']:.4f}"]


def test_one_sentence_of_several_is_chosen(page, tmp_path: Path, make) -> None:
    translator = make()
    items = [{"look": look(translator, text, TARGET).to_json()} for text in (TEXT, OTHER)]
    opened(page, tmp_path, *items)
    assert page.locator("#read").inner_text() == TEXT
    assert page.get_by_role("heading", name="Beam search").count() == 0
    page.get_by_role("combobox", name="Sentence").select_option(label=OTHER)
    assert page.locator("#read").inner_text() == OTHER
    assert page.locator(".heedful-attention").count() == 1


def test_looks_with_names_are_chosen_by_them(page, tmp_path: Path, make) -> None:
    items = [
        {"look": look(make(layers=layers), TEXT, TARGET).to_json(), "name": f"{layers} layers"}
        for layers in (1, 2)
    ]
    opened(page, tmp_path, *items)
    page.get_by_role("combobox", name="Model").select_option(label="2 layers")
    assert page.get_by_role("button", name="layer 2, head 1").count() == 1


def test_two_sentences_stand_side_by_side(page, tmp_path: Path, make) -> None:
    pair = coreference(make(layers=3, heads=4), TEXT, OTHER)
    opened(page, tmp_path, pairs=(pair,))
    heads = page.locator(".heedful-coreference h4")
    assert heads.count() == 8
    first = pair["heads"][0]
    title = f"layer {first['layer'] + 1}, head {first['head'] + 1}: {first['change']:.3f}"
    assert heads.first.inner_text() == f"{title} of the weight moved"
    words = page.locator(".heedful-coreference section").first.locator("p").nth(1).locator(".word")
    assert words.all_inner_texts() == pair["sides"][1]["words"]
    shown = words.evaluate_all("all => all.map(one => one.title)")
    assert shown == [f"{weight:.3f}" for weight in first["weights"][1]]
    page.get_by_role("button", name="Show the other 4 heads").click()
    assert heads.count() == 12
