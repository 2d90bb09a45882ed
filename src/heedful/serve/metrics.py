"""Numbers that a server tells of itself, in the text format of Prometheus.

https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4. Safe to call from any
thread.
"""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)

Values = tuple[str, ...]  # of the labels, in their order


class Counter:
    """A number that only grows, one for each set of label values."""

    kind = "counter"

    def __init__(self, name: str, help: str, labels: Sequence[str] = ()) -> None:
        self.name, self.help, self.labels = name, help, tuple(labels)
        self._counts: dict[Values, float] = {} if labels else {(): 0.0}
        self._lock = threading.Lock()

    def add(self, *values: str, by: float = 1.0) -> None:
        with self._lock:
            self._counts[values] = self._counts.get(values, 0.0) + by

    def value(self, *values: str) -> float:
        with self._lock:
            return self._counts.get(values, 0.0)

    def lines(self) -> Iterable[str]:
        with self._lock:
            counts = sorted(self._counts.items())
        for values, count in counts:
            yield f"{self.name}{_labels(self.labels, values)} {_number(count)}"


class Gauge:
    """A number that is looked up when somebody asks."""

    kind = "gauge"

    def __init__(
        self, name: str, help: str, labels: Sequence[str], read: Callable[[], dict[Values, float]]
    ) -> None:
        self.name, self.help, self.labels, self.read = name, help, tuple(labels), read

    def lines(self) -> Iterable[str]:
        for values, value in sorted(self.read().items()):
            yield f"{self.name}{_labels(self.labels, values)} {_number(value)}"


class Histogram:
    """How often a value was at most so large, for each of some bounds."""

    kind = "histogram"

    def __init__(
        self, name: str, help: str, labels: Sequence[str] = (), bounds: Sequence[float] = SECONDS
    ) -> None:
        self.name, self.help, self.labels, self.bounds = name, help, tuple(labels), tuple(bounds)
        self._counts: dict[Values, list[int]] = {}  # one more than bounds: what is above them all
        self._sums: dict[Values, float] = {}
        self._lock = threading.Lock()

    def observe(self, value: float, *values: str) -> None:
        with self._lock:
            counts = self._counts.setdefault(values, [0] * (len(self.bounds) + 1))
            counts[bisect_left(self.bounds, value)] += 1
            self._sums[values] = self._sums.get(values, 0.0) + value

    def count(self, *values: str) -> int:
        with self._lock:
            return sum(self._counts.get(values, ()))

    def lines(self) -> Iterable[str]:
        with self._lock:
            found = [(values, list(c), self._sums[values]) for values, c in self._counts.items()]
        for values, counts, total in sorted(found):
            so_far = 0
            for bound, count in zip((*self.bounds, float("inf")), counts, strict=True):
                so_far += count
                labels = _labels((*self.labels, "le"), (*values, _number(bound)))
                yield f"{self.name}_bucket{labels} {so_far}"
            yield f"{self.name}_sum{_labels(self.labels, values)} {_number(total)}"
            yield f"{self.name}_count{_labels(self.labels, values)} {so_far}"


class Metrics:
    """What a server counts."""

    def __init__(self) -> None:
        self.requests = Counter(
            "heedful_requests_total", "Requests answered.", ("path", "method", "status")
        )
        self.errors = Counter(
            "heedful_errors_total", "Requests that could not be served.", ("reason",)
        )
        self.seconds = Histogram(
            "heedful_request_seconds", "From a request to the end of its answer.", ("path",)
        )
        self.batches = Histogram(
            "heedful_batch_texts", "Texts decoded together.", ("model",), SIZES
        )
        self.decoding = Histogram(
            "heedful_batch_seconds", "How long a batch was decoded.", ("model",)
        )
        self.tokens = Counter("heedful_tokens_total", "Tokens read and written.", ("model", "side"))
        self._all: list[Counter | Gauge | Histogram] = [
            self.requests,
            self.errors,
            self.seconds,
            self.batches,
            self.decoding,
            self.tokens,
        ]

    def watch(self, gauge: Gauge) -> None:
        """Tell of this number too."""
        self._all.append(gauge)

    def text(self) -> str:
        lines = []
        for one in self._all:
            lines += [f"# HELP {one.name} {one.help}", f"# TYPE {one.name} {one.kind}"]
            lines += one.lines()
        return "\n".join(lines) + "\n"


def _labels(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    pairs = zip(names, values, strict=True)
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)
