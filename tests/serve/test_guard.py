"""Limits of size, time and room, and who may ask at all."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from heedful.errors import UsageError
from heedful.serve.limits import Limits

from .conftest import Running, Serving
from .test_queue import slowed

JSON = {"content-type": "application/json"}


def raw(server: Running, data: bytes, hang_up: bool = False) -> bytes:
    """What a server says to these bytes before it closes the connection; or, where the client
    hangs up, before it notices."""
    with socket.create_connection(server.address, timeout=30) as connection:
        connection.sendall(data)
        if hang_up:
            connection.shutdown(socket.SHUT_WR)
        said = b""
        while part := connection.recv(65536):
            said += part
        return said


def until(condition: Any, seconds: float = 10) -> None:
    """Wait for something to be so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not become so in time"
        time.sleep(0.01)


def model_of(server: Running) -> Any:
    return server.service.desks["late"].translator.model


def test_a_limit_is_a_number_above_zero() -> None:
    with pytest.raises(UsageError, match="the limit 'beam' must be above 0, got 0"):
        Limits(beam=0)


def test_a_large_request_is_refused_before_it_is_kept(server: Running) -> None:
    large = b'{"text": ["' + b"a" * 10_000_000 + b'"]}'
    answer = httpx.post(f"{server.url}/translate", content=large, headers=JSON, timeout=60)
    assert answer.status_code == 413
    assert answer.json() == {
        "detail": "the request has more than 1,000,000 bytes, which is the most"
    }
    chunks = (b"a" * 100_000 for _ in range(30))  # its length is not announced
    answer = httpx.post(f"{server.url}/translate", content=chunks, headers=JSON, timeout=60)
    assert answer.status_code == 413
    said = raw(
        server,
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Expect: 100-continue\r\nContent-Length: 999999999999\r\n\r\n",
    )
    assert said.startswith(b"HTTP/1.1 413 ")  # and is not asked to go on
    assert server.get("/health").status_code == 200


def test_a_full_queue_is_503_with_retry_after(serving: Serving, pairs) -> None:
    with serving(Limits(waiting=1, batch=1)) as server, slowed(model_of(server)):
        with ThreadPoolExecutor(3) as clients:
            first = clients.submit(server.translate, pairs[0][0])
            until(lambda: server.service.desks["late"].working)
            second = clients.submit(server.translate, pairs[1][0])
            until(lambda: server.service.desks["late"].waiting)
            for path, text in (("/translate", [pairs[2][0]]), ("/translate/stream", pairs[2][0])):
                refused = server.post(path, {"text": text})
                assert refused.status_code == 503
                assert 1 <= int(refused.headers["retry-after"]) <= 60
                assert refused.json()["detail"].startswith("1 texts wait already")
            assert first.result()[0]["text"] == pairs[0][1]
            assert second.result()[0]["text"] == pairs[1][1]
        assert server.translate(pairs[2][0])[0]["text"] == pairs[2][1]
        assert 'heedful_errors_total{reason="full"} 2' in server.get("/metrics").text


def test_past_its_deadline_a_request_is_504(serving: Serving, pairs) -> None:
    with serving(Limits(seconds=0.3)) as server:
        with slowed(model_of(server), 0.1):
            answer = server.post("/translate", {"text": [pairs[0][0]]})
            assert answer.status_code == 504
            assert answer.json()["detail"] == "the answer was not ready within 0.3 seconds"
            desk = server.service.desks["late"]
            until(lambda: not desk.working, 2)  # a whole search would take longer
        assert server.translate("")[0] == {"text": "", "score": None}


def test_a_client_that_vanishes_frees_its_place(serving: Serving, pairs) -> None:
    with serving(Limits(waiting=1, batch=1)) as server, slowed(model_of(server), 0.1):
        desk = server.service.desks["late"]
        for path, text in (
            ("/translate", f'["{pairs[0][0]}"]'),
            ("/translate/stream", '"Say it."'),
        ):
            body = f'{{"text": {text}}}'.encode()
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
            two = [socket.create_connection(server.address) for _ in range(2)]
            two[0].sendall(whole)
            until(lambda: desk.working)
            two[1].sendall(whole)
            until(lambda: desk.waiting)
            two[1].close()
            until(lambda: not desk.waiting)
            two[0].close()
            until(lambda: not desk.working, 3)


def test_a_client_that_is_slow_to_ask_is_not_waited_for(serving: Serving) -> None:
    with serving(Limits(patience=0.3)) as server:
        began = time.monotonic()
        half = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        assert raw(server, half) == b""  # no head
        assert raw(server, b"") == b""  # nothing at all
        said = raw(server, half + b'Content-Length: 30\r\n\r\n{"text"')
        assert said.startswith(b"HTTP/1.1 408 ") and b"within 0.3 seconds" in said
        again = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea"
        assert raw(server, again).count(b"HTTP/1.1") == 1  # the second was only half asked
        assert time.monotonic() - began < 10
        assert server.get("/health").status_code == 200


def test_a_client_that_does_not_read_is_left(serving: Serving, pairs) -> None:
    with serving(Limits(seconds=0.5, patience=0.2)) as server:
        connection = socket.create_connection(server.address)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        ask = b"GET /assets/attention.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.sendall(ask * 400)  # more than the system keeps for a reader
        until(lambda: 'heedful_errors_total{reason="slow"}' in server.get("/metrics").text)
        connection.close()


def test_a_server_that_stops_answers_what_it_accepted(serving: Serving, pairs) -> None:
    with serving() as server, ThreadPoolExecutor(4) as clients:
        with slowed(model_of(server)):
            asked = [clients.submit(server.translate, english) for english, _ in pairs[:4]]
            desk = server.service.desks["late"]
            until(lambda: desk.waiting + desk.working == 4 or all(a.done() for a in asked))
            stopping = threading.Thread(target=server.stop)
            stopping.start()
            found = [answer.result()[0]["text"] for answer in asked]
            stopping.join()
        assert found == [french for _, french in pairs[:4]]
        with pytest.raises(httpx.ConnectError):
            server.get("/health")


def test_a_token_is_asked_for(serving: Serving, pairs) -> None:
    with serving(token="a-secret") as server:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic a-secret"}):
            answer = server.post("/translate", {"text": [pairs[0][0]]}, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        for path in ("/models", "/metrics"):
            assert server.get(path).status_code == 401
        for path in ("/translate/stream", "/attention", "/beams"):
            assert server.post(path, {"text": "a"}).status_code == 401
        for path in ("/", "/health", "/docs", "/assets/page.js"):
            assert server.get(path).status_code == 200
        right = {"authorization": "Bearer a-secret"}
        answer = server.post("/translate", {"text": [pairs[0][0]]}, headers=right)
        assert answer.json()["translations"][0]["text"] == pairs[0][1]
        assert "securitySchemes" in server.get("/openapi.json").json()["components"]


def test_pages_of_others_may_not_ask(server: Running, serving: Serving, pairs) -> None:
    foreign = {"origin": "https://other.example"}
    preflight = {**foreign, "access-control-request-method": "POST"}
    for answer in (
        server.get("/health", headers=foreign),
        httpx.options(f"{server.url}/translate", headers=preflight),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]
    plain = httpx.post(  # what a form of a foreign page could send without asking first
        f"{server.url}/translate", content='{"text": ["a"]}', headers={"content-type": "text/plain"}
    )
    assert plain.status_code == 415
    with serving(origins=["https://friend.example"]) as other:
        friend = {"origin": "https://friend.example"}
        allowed = other.get("/health", headers=friend).headers
        assert allowed["access-control-allow-origin"] == "https://friend.example"
        refused = other.get("/health", headers=foreign).headers
        assert "access-control-allow-origin" not in refused


def test_another_name_for_this_machine_gets_nothing(serving: Serving) -> None:
    with serving(hosts=("127.0.0.1", "localhost", "::1")) as server:
        for host in ("rebound.example", "rebound.example:80", "[bad", ""):
            assert server.get("/models", headers={"host": host}).status_code == 421
        for host in ("localhost", "localhost:1", "[::1]:8000", "127.0.0.1"):
            assert server.get("/models", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/assets/page.js", "/health", "/nowhere", "/metrics", "/openapi.json"]
)
def test_every_answer_has_its_headers(server: Running, path: str) -> None:
    headers = server.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy
    assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../app.py",
        "/assets/..%2f..%2fapp.py",
        "/assets/%2e%2e/app.py",
        "/assets//etc/passwd",
        "/assets/%2fetc%2fpasswd",
        "/assets/..\\app.py",
        "/assets/page.js%00",
        "//etc/passwd",
        "/../../../../etc/passwd",
    ],
)
def test_no_path_of_a_request_reaches_the_file_system(server: Running, path: str) -> None:
    said = raw(
        server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    )
    assert said.startswith(b"HTTP/1.1 404 ")
    assert b"root:" not in said and b"import" not in said


def test_a_bug_is_a_500_without_a_traceback_and_the_server_goes_on(
    serving: Serving, pairs, capfd
) -> None:
    with serving() as server:
        desk = server.service.desks["late"]
        translate, decode = desk.translate, desk.translator.decode
        try:
            desk.translate = lambda *_: 1 / 0  # type: ignore[method-assign,assignment]
            answer = server.post("/translate", {"text": ["a"]})
            assert answer.status_code == 500
            assert answer.json() == {"detail": "something went wrong in the server"}
            desk.translate = translate  # type: ignore[method-assign]
            desk.translator.decode = lambda *_, **__: 1 / 0  # type: ignore[method-assign,assignment]
            answer = server.post("/translate", {"text": ["a"]})
            assert answer.status_code == 500 and "nobody foresaw" in answer.json()["detail"]
        finally:
            desk.translate, desk.translator.decode = translate, decode  # type: ignore[method-assign]
        assert server.said == ["POST '/translate': ZeroDivisionError: division by zero"]
        assert server.translate(pairs[0][0])[0]["text"] == pairs[0][1]
    assert "Traceback" not in capfd.readouterr().err
