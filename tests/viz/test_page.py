import base64
import hashlib
import re
from html.parser import HTMLParser

from heedful.viz.curves import curves, drawn
from heedful.viz.page import Script, page, table


class Reader(HTMLParser):
    """Checks that what opens closes, and keeps the text."""

    EMPTY = {"meta", "line", "!doctype"}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text, self.links = "", []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_data(self, data):
        self.text += data


def test_a_page_is_whole_and_fetches_nothing() -> None:
    read = Reader(page("A < B", [table(["name", "it's"], [("<b>", "x & y")])]))
    assert read.links == []
    assert "A < B" in read.text and "<b>" in read.text and "x & y" in read.text


def test_curves_are_drawn_and_said_in_words() -> None:
    chart = curves("loss", "steps", "nats", {"one": [(0, 3.0), (10, 1.0)], "none": []})
    read = Reader(chart)
    assert 'points="52.0,10.0 470.0,226.0"' in chart
    assert "one ends at 1" in read.text and "none" not in read.text


def test_a_flat_line_and_a_single_point_can_be_drawn() -> None:
    assert "polyline" in curves("x", "steps", "y", {"flat": [(1, 2.0), (2, 2.0)]})
    assert "polyline" in curves("x", "steps", "y", {"dot": [(1, 2.0)]})


def test_nothing_to_draw_is_no_picture() -> None:
    assert curves("x", "steps", "y", {"none": []}) == ""


def test_many_lines_are_told_apart_by_dashes() -> None:
    chart = curves("x", "steps", "y", {str(i): [(0, i), (1, i)] for i in range(8)})
    assert chart.count("stroke-dasharray") == 2


def test_points_that_are_no_numbers_are_left_out() -> None:
    nan = float("nan")
    chart = curves("x", "steps", "y", {"one": [(0, 3.0), (5, nan), (10, 1.0)], "none": [(1, nan)]})
    assert 'points="52.0,10.0 470.0,226.0"' in chart and "none" not in chart.replace('"none"', "")


def test_of_very_many_points_some_are_drawn() -> None:
    line = [(float(step), step % 7.0) for step in range(12_345)]
    found = drawn(line)
    assert len(found) == 1_000 and (found[0], found[-1]) == (line[0], line[-1])


def test_a_policy_names_the_style_and_the_script() -> None:
    html = page("x", ["<p>y</p>"], "p { color: red; }", Script("let a = 1;", {"text": "</script>"}))
    policy = re.search(r'Policy" content="([^"]+)"', html)[1]
    style = re.search(r"<style>(.*)</style>", html, re.DOTALL)[1]
    for kind, text in (("style", style), ("script", "let a = 1;")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and html.count("</script>") == 2
    assert "script-src 'none'" in page("x", [])
