"""Metrics in the text format of Prometheus."""

from heedful.serve.metrics import Counter, Gauge, Histogram, Metrics


def test_a_counter_has_a_line_for_each_set_of_labels() -> None:
    counter = Counter("asked_total", "How often.", ("path", "status"))
    counter.add("/b", "200")
    counter.add("/a", "503", by=2.5)
    counter.add("/b", "200")
    assert list(counter.lines()) == [
        'asked_total{path="/a",status="503"} 2.5',
        'asked_total{path="/b",status="200"} 2',
    ]
    assert list(Counter("plain_total", "Nothing yet.").lines()) == ["plain_total 0"]


def test_a_histogram_counts_what_is_at_most_each_bound() -> None:
    histogram = Histogram("taken_seconds", "How long.", ("path",), bounds=(0.1, 1.0))
    for seconds in (0.1, 0.5, 0.75, 3.0):
        histogram.observe(seconds, "/")
    assert list(histogram.lines()) == [
        'taken_seconds_bucket{path="/",le="0.1"} 1',
        'taken_seconds_bucket{path="/",le="1"} 3',
        'taken_seconds_bucket{path="/",le="+Inf"} 4',
        'taken_seconds_sum{path="/"} 4.35',
        'taken_seconds_count{path="/"} 4',
    ]


def test_a_gauge_is_read_when_somebody_asks() -> None:
    now = {("a",): 1.0}
    gauge = Gauge("waiting", "Who waits.", ("model",), lambda: now)
    now["a",] = 7.0
    assert list(gauge.lines()) == ['waiting{model="a"} 7']


def test_label_values_are_escaped() -> None:
    counter = Counter("odd_total", "Odd.", ("model",))
    counter.add('a"b\\c\nd')
    assert list(counter.lines()) == ['odd_total{model="a\\"b\\\\c\\nd"} 1']


def test_every_metric_says_what_it_is() -> None:
    lines = Metrics().text().splitlines()
    assert "# TYPE heedful_requests_total counter" in lines
    assert "# TYPE heedful_request_seconds histogram" in lines
    assert len([line for line in lines if line.startswith("# HELP ")]) == 6
