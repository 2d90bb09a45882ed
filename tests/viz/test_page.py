from html.parser import HTMLParser

from heedful.viz.curves import curves
from heedful.viz.page import page, table


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
    drawn = curves("loss", "steps", "nats", {"one": [(0, 3.0), (10, 1.0)], "none": []})
    read = Reader(drawn)
    assert 'points="52.0,10.0 470.0,226.0"' in drawn
    assert "one ends at 1" in read.text and "none" not in read.text


def test_a_flat_line_and_a_single_point_can_be_drawn() -> None:
    assert "polyline" in curves("x", "steps", "y", {"flat": [(1, 2.0), (2, 2.0)]})
    assert "polyline" in curves("x", "steps", "y", {"dot": [(1, 2.0)]})


def test_nothing_to_draw_is_no_picture() -> None:
    assert curves("x", "steps", "y", {"none": []}) == ""


def test_many_lines_are_told_apart_by_dashes() -> None:
    drawn = curves("x", "steps", "y", {str(i): [(0, i), (1, i)] for i in range(8)})
    assert drawn.count("stroke-dasharray") == 2
