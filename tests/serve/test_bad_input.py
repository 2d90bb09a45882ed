"""Whatever is sent, the answer is a refusal with a reason, and the server goes on."""

import json
import random
from typing import Any

import httpx
import hypothesis
import pytest
from hypothesis import HealthCheck

from heedful.serve.limits import Limits

from .conftest import Running, running
from .test_guard import JSON, raw

schemathesis = pytest.importorskip("schemathesis")

EXAMPLES = 6  # of each door


@pytest.fixture(scope="module")
def small(served):
    """A server of small things, so that many can be asked of it."""
    limits = Limits(characters=12, texts=3, beam=2, nbest=2, body=20_000)
    with running(served[:1], limits) as server:
        yield server
        assert server.said == []  # no bug came to light on the way


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_the_server_does_what_its_description_says(small: Running, mode: Any) -> None:
    """What fits the description is served, what does not is refused, and every answer is one that
    the description names."""
    described = schemathesis.openapi.from_url(f"{small.url}/openapi.json")
    tried = []
    for found in described.get_all_operations():
        operation = found.ok()

        @hypothesis.settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def check(case: Any) -> None:
            tried.append(case.path)
            case.call_and_validate()

        if operation.method == "post" or mode == schemathesis.GenerationMode.POSITIVE:
            check()
    assert {"/translate", "/translate/stream", "/attention", "/beams"} <= set(tried)
    assert len(tried) >= 4 * EXAMPLES


BROKEN: list[bytes] = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b"\xff\xfe",
    b"\x00",
    b'{"text": ["\\ud800"]}',
    b'{"text": ["\\udc00\\ud800"]}',
    b'{"text": ["\xed\xa0\x80"]}',
    b'{"text": ["a"], "alpha": NaN}',
    b'{"text": ["a"], "alpha": -Infinity}',
    b'{"text": ["a"], "alpha": 1e999}',
    b'{"text": ["a"], "beam": 1e2}',
    b'{"text": ["a"], "beam": ' + b"9" * 5000 + b"}",
    b'{"text": ["a"], "beam": true}',
    b'{"text": ["a"], "beam": "4"}',
    b'{"text": [1]}',
    b'{"text": [null]}',
    b'{"text": {"0": "a"}}',
    b'{"text": ["a"],}',
    b"[" * 19_000,
    b'{"text": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"text": ["a"], "model": "../../etc/passwd"}',
    b'{"text": ["a"], "model": "\\u0000"}',
    b'{"text": ["a"], "' + b"k" * 10_000 + b'": 1}',
    "{'text': ['a']}".encode("utf-16"),
]


@pytest.mark.parametrize("body", BROKEN, ids=lambda body: repr(body[:30]))
def test_a_broken_body_is_refused(small: Running, body: bytes) -> None:
    for path in ("/translate", "/translate/stream", "/attention", "/beams"):
        answer = httpx.post(small.url + path, content=body, headers=JSON)
        assert answer.status_code in (404, 413, 422), answer.text
        assert list(answer.json()) == ["detail"]
        assert len(answer.json()["detail"]) < 600  # what was sent is not sent back


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\u202e\ufffe", "\U0010ffff", "\x1b[31m", "\n"])
def test_an_odd_text_is_a_text(small: Running, text: str) -> None:
    answer = small.post("/translate", {"text": [text]})
    assert answer.status_code == 200 and len(answer.json()["translations"]) == 1
    for path in ("/attention", "/beams"):
        assert small.post(path, {"text": text}).status_code in (200, 422)


def test_bodies_made_at_random_never_break_the_server(small: Running) -> None:
    rng = random.Random(7)
    good = json.dumps({"text": ["ab"], "beam": 2, "alpha": 0.5, "nbest": 1, "model": "late"})
    with httpx.Client(base_url=small.url, timeout=60) as client:
        for _ in range(60):
            body = mangled(good.encode(), rng)
            path = rng.choice(("/translate", "/translate/stream", "/attention", "/beams"))
            answer = client.post(path, content=body, headers=JSON)
            assert answer.status_code in (200, 404, 422), (body, answer.text)
        for _ in range(40):
            answer = client.post("/translate", content=json.dumps(something(rng, 3)), headers=JSON)
            assert answer.status_code in (200, 404, 422), answer.text
        assert client.post("/translate", json={"text": ["a"]}).status_code == 200


def mangled(body: bytes, rng: random.Random) -> bytes:
    """A good body with some bytes changed, left out or said twice."""
    made = bytearray(body)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(made))
        change = rng.randrange(3)
        if change == 0:
            made[place] = rng.randrange(256)
        elif change == 1:
            del made[place : place + rng.randint(1, 5)]
        else:
            made[place:place] = made[place : place + rng.randint(1, 9)]
        if not made:
            break
    return bytes(made)


def something(rng: random.Random, depth: int) -> Any:
    """Any JSON, with the names that the server knows."""
    kinds: list[Any] = [None, True, -1, 10**30, 0.5, "", "ab", "é" * 20]
    if depth and rng.random() < 0.7:
        if rng.random() < 0.5:
            return [something(rng, depth - 1) for _ in range(rng.randrange(4))]
        names = rng.sample(("text", "beam", "alpha", "nbest", "model", "to", "other"), 3)
        return {name: something(rng, depth - 1) for name in names}
    return rng.choice(kinds)


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\x81",
    ],
    ids=lambda data: repr(data[:40]),
)
def test_what_is_not_http_is_refused(small: Running, request_: bytes) -> None:
    assert b" 500 " not in raw(small, request_, hang_up=True)[:40]
    assert small.get("/health").status_code == 200
