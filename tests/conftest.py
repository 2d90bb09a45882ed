"""What all tests share: one thread a worker, fixed seeds, data in a folder of its own, and the
shapes in signatures checked on every call where those are tested."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import jaxtyping
import pytest

# Before anything of these rooms is imported: every annotated shape is then checked when called.
# Left out: what is called inside FlexAttention's own tracing, which the checks would disturb.
TRACED = {"layout", "patterns", "sight"}
TESTS = Path(__file__).parent
CHECKED = {"laws", "modalities", "models", "nn"}  # rooms of tests
PARTS = TESTS.parent / "src" / "heedful" / "nn"
jaxtyping.install_import_hook(
    [
        "heedful.models",
        "heedful.modalities",
        *(
            f"heedful.nn.{path.stem}"
            for path in PARTS.iterdir()
            if path.stem not in {*TRACED, "__init__"}
        ),
    ],
    "beartype.beartype",
)

import hypothesis  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

hypothesis.settings.register_profile("heedful", derandomize=True, deadline=None, max_examples=50)
hypothesis.settings.load_profile("heedful")
torch.set_num_threads(1)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # those started here hear it again


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what needs a GPU where there is none, and check shapes in their own rooms: others
    train and search, by hundreds of calls a step, of which that would take most of the time."""
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    room = item.path.relative_to(TESTS).parts[0]
    jaxtyping.config.update("jaxtyping_disable", room not in CHECKED)


@pytest.fixture(autouse=True)
def seeds() -> None:
    """The same random numbers in every test, whatever ran before it."""
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)


@pytest.fixture
def by_kernels() -> Callable[..., None]:
    """Runs code that uses kernels in Triton, in a process of its own, which must end well: by the
    interpreter for the device cpu, compiled for cuda. The device is its first argument."""
    pytest.importorskip("triton")

    def run(code: str, device: str = "cpu") -> None:
        environment = {**os.environ, "TRITON_INTERPRET": "1" if device == "cpu" else "0"}
        command = [sys.executable, "-c", code, device]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return run


@pytest.fixture(autouse=True, scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Prepared data goes to a folder of this test session, for subprocesses too."""
    folder = tmp_path_factory.mktemp("data")
    before = {name: os.environ.get(name) for name in ("HEEDFUL_DATA", "OMP_NUM_THREADS")}
    os.environ.update({"HEEDFUL_DATA": str(folder), "OMP_NUM_THREADS": "1"})
    yield folder
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    """Debian's browser, without a screen and without a network of its own."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium here: `make browser` installs it where it can")
    from playwright.sync_api import sync_playwright

    quiet = [
        "--no-sandbox",  # tests may run as root, where its sandbox cannot
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=path, args=quiet)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: "Browser") -> Iterator["Page"]:
    """A fresh page. An error on it, or a word to a foreign host, fails the test."""
    context = chromium.new_context()
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(f"error on the page: {error}"))

    def asked(request: "Request") -> None:
        host = urlsplit(request.url).hostname
        if host not in (None, "127.0.0.1", "localhost"):
            wrong.append(f"asked a foreign host: {request.url}")

    opened.on("request", asked)
    yield opened
    context.close()
    assert not wrong, wrong
