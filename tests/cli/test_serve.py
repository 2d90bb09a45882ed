"""`heedful serve`: what it refuses before it listens, and how it stops."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from .conftest import Heedful

WHOLE = {"text": ["0 1 1"]}


@contextmanager
def serving(*arguments: str | Path, **environment: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """The command in a process of its own, and where it says that it serves."""
    command = [sys.executable, "-m", "heedful", "serve", *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        said = process.stdout.readline()
        assert said.startswith("serving at http://127.0.0.1:"), process.stderr.read()
        yield process, said.split()[-1]
    finally:
        process.kill()
        process.communicate()


def test_it_serves_runs_by_name_until_it_is_told_to_stop(tiny_run: Path) -> None:
    with serving(tiny_run, f"other={tiny_run}", "--beam", "2", HEEDFUL_TOKEN="word") as (
        process,
        url,
    ):
        assert httpx.get(f"{url}/health").json() == {"status": "ok", "models": ["tiny", "other"]}
        assert httpx.post(f"{url}/translate", json=WHOLE).status_code == 401
        known = {"authorization": "Bearer word"}
        models = httpx.get(f"{url}/models", headers=known).json()["models"]
        assert [(one["name"], one["beam"]) for one in models] == [("tiny", 2), ("other", 2)]
        answer = httpx.post(f"{url}/translate", json={**WHOLE, "model": "other"}, headers=known)
        assert set(answer.json()["translations"][0]["text"]) <= set("01 ")
        assert httpx.get(f"{url}/health", headers={"host": "a.example"}).status_code == 421
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (0, "")
        assert err.splitlines()[-1] == "stopped" and "tiny: step-60, sha256 " in err
        assert "Traceback" not in err


def test_ctrl_c_is_an_interruption(tiny_run: Path) -> None:
    with serving(tiny_run) as (process, url):
        assert httpx.post(f"{url}/translate", json=WHOLE).status_code == 200
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130 and err.splitlines()[-1] == "interrupted"


def test_a_tampered_checkpoint_is_refused_with_its_checksum(
    heedful: Heedful, tiny_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    weights = run / "checkpoints" / "step-60" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    answer = heedful("serve", run, "--port", "0", "--checkpoint", "step-60")
    assert (answer.status, answer.out) == (1, "")
    assert answer.err.startswith("error: ") and len(answer.err.splitlines()) == 1
    assert "model.safetensors is not what was written (its checksum differs)" in answer.err
    for name in ("step-20", "step-40"):
        shutil.rmtree(run / "checkpoints" / name)
    (run / "checkpoints" / "best.json").unlink(missing_ok=True)
    answer = heedful("serve", run, "--port", "0")
    assert answer.status == 1 and "holds no whole checkpoint" in answer.err
    assert "its checksum differs" in answer.err


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        (["{run}", "{run}"], 2, "two runs would be called 'tiny'. Give one another name: NAME="),
        (["={run}"], 2, "names no model. Write RUN or NAME=RUN"),
        (["{run}/absent"], 1, "no run at"),
        (["{run}", "--token", "é"], 2, "--token must be of ASCII characters"),
        (["{run}", "--max-beam", "0"], 2, "--max-beam"),
        (["{run}", "--host", "256.1.1.1"], 1, "cannot listen at 256.1.1.1, port 0"),
        (["{run}", "--set", "model.dim=3"], 2, "cannot set 'model.dim' of a finished run"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    options, status: int, reason: str, heedful: Heedful, tiny_run: Path
) -> None:
    given = [option.replace("{run}", str(tiny_run)) for option in options]
    answer = heedful("serve", *given, "--port", "0")
    assert (answer.status, answer.out) == (status, "")
    assert reason in answer.err and len(answer.err.splitlines()) == 1


def test_a_port_in_use_is_said(heedful: Heedful, tiny_run: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = heedful("serve", tiny_run, "--port", str(port))
    assert answer.status == 1
    assert f"cannot listen at 127.0.0.1, port {port}: Address already in use" in answer.err


@pytest.mark.parametrize("package", ["fastapi", "uvicorn"])
def test_without_the_library_the_extra_is_named(
    package: str, heedful: Heedful, tiny_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    answer = heedful("serve", tiny_run)
    assert answer.status == 2
    assert f"needs the package {package}" in answer.err
    assert "pip install 'heedful[serve]'" in answer.err
