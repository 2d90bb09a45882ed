"""Many clients at once; the whole measurement is `tests/serve/load.py`."""

from heedful.serve.limits import Limits

from .conftest import Serving, finished
from .load import MANNERS, Question, attack, questions


def test_no_answer_is_lost_or_swapped(serving: Serving, offline, pairs) -> None:
    asked = questions(offline, [english for english, _ in pairs], 120)
    assert len({question.body for question in asked}) > 60 and len(MANNERS) > 2
    with serving(Limits(waiting=200)) as server:
        report = finished(attack(server.address, asked, clients=16))
        together = server.service.metrics.batches.count("late")
    assert report.wrong == [] and report.ties == 0 and report.answered == 120
    assert together < 60  # of about 180 texts


def test_a_wrong_answer_is_noticed(serving: Serving, offline, pairs) -> None:
    asked = questions(offline, [pairs[0][0]], 1)
    other = questions(offline, [pairs[1][0]], 1)
    with serving() as server:
        swapped = [Question(asked[0].body, other[0].answer)]
        report = finished(attack(server.address, swapped, clients=2))
        assert len(report.wrong) >= 1
        refused = finished(attack(server.address, [Question(b"{", [])], clients=1))
        assert "422" in refused.wrong[0]
