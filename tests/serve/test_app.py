"""The JSON API: what is asked and what is answered."""

import json
import re
import threading
from typing import Any

import httpx
import pytest

from heedful.seeing.attention import look
from heedful.seeing.beams import tree

from .conftest import Running, Serving


def lines(server: Running, text: str, **how: Any) -> list[dict[str, Any]]:
    with httpx.stream(
        "POST", f"{server.url}/translate/stream", json={"text": text, **how}, timeout=60
    ) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [json.loads(line) for line in answer.iter_lines()]


def test_texts_are_translated_in_their_order(server: Running, pairs, offline) -> None:
    texts = [english for english, _ in pairs]
    found = server.translate(*texts, beam=4)
    assert [one["text"] for one in found] == [french for _, french in pairs]
    assert all(set(one) == {"text", "score"} for one in found)
    expected = offline.decode(texts)
    assert all(abs(a["score"] - b.score) < 1e-4 for a, b in zip(found, expected, strict=True))


def test_an_empty_text_has_nothing_to_score(server: Running) -> None:
    assert server.translate("", "  \n") == [{"text": "", "score": None}] * 2


def test_the_n_best_come_best_first(server: Running, pairs) -> None:
    (found,) = server.translate(pairs[0][0], beam=2, nbest=3)
    scores = [one["score"] for one in found["nbest"]]
    assert len(scores) == 3 and scores == sorted(scores, reverse=True)
    assert found["nbest"][0] == {"text": pairs[0][1], "score": found["score"], "finished": True}
    assert len({one["text"] for one in found["nbest"]}) == 3


def test_alpha_changes_the_score(server: Running, pairs, offline) -> None:
    (plain,) = server.translate(pairs[0][0], alpha=0)
    expected = offline.decode([pairs[0][0]])[0].hypotheses[0]
    assert plain["score"] == pytest.approx(sum(expected.token_scores), abs=1e-4)


def test_several_models_are_told_apart_by_name(server: Running, pairs) -> None:
    found = [server.translate(pairs[0][0], model=name)[0]["text"] for name in ("late", "early")]
    assert found[0] == pairs[0][1] != found[1]
    described = server.get("/models").json()["models"]
    assert [(one["name"], one["checkpoint"]) for one in described] == [
        ("late", "step-250"),
        ("early", "step-50"),
    ]
    assert described[0]["sha256"] != described[1]["sha256"]


def test_a_translation_can_be_watched(server: Running, pairs) -> None:
    *before, last = lines(server, pairs[0][0])
    assert set(last["translation"]) == {"text", "score"}
    assert last["translation"]["text"] == pairs[0][1]
    partial = [line["partial"] for line in before]
    assert partial[0] == "" and len(partial) > 3
    assert pairs[0][1].startswith(partial[-1]) and len(partial[-1]) > len(pairs[0][1]) / 2


def test_attention_is_that_of_the_model(server: Running, pairs, offline) -> None:
    english, french = pairs[0]
    answer = server.post("/attention", {"text": english})
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    expected = look(offline, english).to_json()
    assert answer.json()["alignment"]["columns"] == expected["alignment"]["columns"]
    for mine, theirs in zip(
        answer.json()["alignment"]["weights"], expected["alignment"]["weights"], strict=True
    ):
        assert mine == pytest.approx(theirs, abs=1e-4)
    other = server.post("/attention", {"text": english, "target": "Oui."}).json()
    assert (other["target"], answer.json()["target"]) == ("Oui.", french)


@pytest.mark.parametrize("path", ["/attention", "/beams"])
def test_there_is_an_end_to_what_can_be_looked_at(server: Running, path: str) -> None:
    for body in [{"text": "ab " * 200}, *([{"text": "a", "target": "ab " * 200}] * ("at" in path))]:
        answer = server.post(path, body)
        assert answer.status_code == 422
        assert answer.json()["detail"].endswith("tokens, and 256 is the most to look at")
    assert "pattern" in server.post(path, {"text": " \n"}).json()["detail"]


def test_the_beam_tree_is_that_of_the_search(server: Running, pairs, offline) -> None:
    english, french = pairs[0]
    found = server.post("/beams", {"text": english, "beam": 3, "alpha": 0.2}).json()
    assert (found["beam"], found["alpha"], found["target"]) == (3, 0.2, french)
    assert len(found["nodes"]) == len(tree(offline, english, beam=3)["nodes"])


def test_looking_does_not_change_what_others_get(server: Running, pairs) -> None:
    """Attention is watched and texts are decoded at once; they must not meet in the model."""
    wrong: list[str] = []

    def look_on() -> None:
        for _ in range(2):
            if server.post("/attention", {"text": pairs[1][0]}).json()["target"] != pairs[1][1]:
                wrong.append("attention")

    looking = threading.Thread(target=look_on)
    looking.start()
    for english, french in pairs[:3]:
        if server.translate(english)[0]["text"] != french:
            wrong.append(english)
    looking.join()
    assert wrong == []


def test_health_and_metrics(serving: Serving, pairs) -> None:
    with serving() as server:
        assert server.get("/health").json() == {"status": "ok", "models": ["late", "early"]}
        server.translate(pairs[0][0], pairs[1][0])
        server.post("/translate", {"text": "no list"})
        server.get("/nowhere/at/all")
        answer = server.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = answer.text
    for line in (
        'heedful_requests_total{path="/translate",method="POST",status="200"} 1',
        'heedful_requests_total{path="/translate",method="POST",status="422"} 1',
        'heedful_requests_total{path="other",method="GET",status="404"} 1',
        'heedful_request_seconds_count{path="/translate"} 2',
        'heedful_batch_texts_sum{model="late"} 2',
        'heedful_queue_texts{model="late"} 0',
    ):
        assert line in text.splitlines(), line
    written = re.search(r'heedful_tokens_total{model="late",side="written"} (\d+)', text)
    assert written and int(written[1]) > 20
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) .+|\w+({.+})? [0-9.e+-]+", line), line


def test_openapi_names_every_door_and_every_limit(server: Running) -> None:
    found = server.get("/openapi.json").json()
    doors = ("/translate", "/translate/stream", "/attention", "/beams")
    others = ("/health", "/metrics", "/models")
    assert set(found["paths"]) == {*doors, *others}
    asked = found["paths"]["/translate"]["post"]["requestBody"]["content"]["application/json"]
    assert asked["schema"]["properties"]["text"]["maxItems"] == 64
    assert asked["schema"]["properties"]["model"]["enum"] == ["late", "early", None]
    assert asked["schema"]["additionalProperties"] is False
    statuses = set(found["paths"]["/translate"]["post"]["responses"])
    assert {"200", "401", "404", "413", "422", "503", "504"} <= statuses


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (
            {"text": ["a"], "model": "lat"},
            404,
            "no model named 'lat'. Close: late. It can be: late",
        ),
        ({"text": []}, 422, "text: List should have at least 1 item"),
        ({"text": ["a"] * 65}, 422, "text: List should have at most 64 items"),
        ({"text": ["a" * 5001]}, 422, "text.0: String should have at most 5000 characters"),
        ({"text": ["a b " * 300]}, 422, "text 1: the line has"),
        ({"text": ["a"], "beam": 17}, 422, "beam: Input should be less than or equal to 16"),
        ({"text": ["a"], "beam": 0}, 422, "beam: Input should be greater than or equal to 1"),
        ({"text": ["a"], "nbest": 17}, 422, "nbest: Input should be less than"),
        ({"text": ["a"], "alpha": 1e9}, 422, "alpha: Input should be less than or equal to 5"),
        ({"text": ["a"], "beem": 4}, 422, "beem: Extra inputs are not permitted"),
        ({"text": ["a"], "to": "fr"}, 422, "to: Input should be null"),
        ({"text": "a"}, 422, "text: Input should be a valid array"),
        ({}, 422, "text: Field required"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(
    server: Running, body, status: int, reason: str
) -> None:
    answer = server.post("/translate", body)
    assert answer.status_code == status
    assert set(answer.json()) == {"detail"} and answer.json()["detail"].startswith(reason)


def test_a_watched_text_may_be_refused_or_have_several_answers(server: Running) -> None:
    assert server.post("/translate/stream", {"text": ["a"]}).status_code == 422
    assert server.post("/translate/stream", {"text": "a", "model": "x"}).status_code == 404
    assert len(lines(server, "Say it.", nbest=2)[-1]["translation"]["nbest"]) == 2
    assert lines(server, "a b " * 300)[-1]["error"].startswith("text 1: the line has")
