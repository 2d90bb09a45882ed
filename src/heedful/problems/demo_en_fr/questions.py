"""What the demo language asks. French asks with est-ce que, except where a noun can follow."""

from collections.abc import Callable
from typing import Any

from . import phrases as ph
from . import verbs as vb
from .clauses import (
    FUTURE,
    NOT,
    PAST,
    PRESENT,
    PROGRESSIVE,
    clause,
)
from .phrases import NounPhrase, Phrase, fixed, noun_phrase
from .pieces import Pieces
from .scenes import (
    ABOUT_PEOPLE,
    ASKABLE,
    COUNTED,
    FINDABLE,
    STAYING,
)
from .statements import Sentence


def est_ce_que() -> Phrase:
    """What French opens a question with, and English does not say."""
    key = ph.fresh_key()
    return Phrase([], [("est-ce", key), ("que", key)], [])


class Questions:
    """Draws questions."""

    def __init__(self, pieces: Pieces):
        self.pieces = pieces
        self.dice = pieces.dice
        self.actors = pieces.actors

    def asks(self) -> Sentence:
        """Any question. French asks with est-ce que, except where a noun can simply follow."""
        return self.dice.pick(self._questions())(), "?"

    def _questions(self) -> tuple[Callable[[], Phrase], ...]:
        return (
            self._yes_or_no,
            self._yes_or_no,
            self._yes_or_no,
            self._where_is,
            self._where_do,
            self._what,
            self._what,
            self._who_did,
            self._who_did,
            self._whom,
            self._why,
            self._why,
            self._when_do,
            self._which,
            self._which,
            self._how_many,
            self._how_many,
            lambda: est_ce_que() + self.pieces.there_is(asking=True),
        )

    def _yes_or_no(self) -> Phrase:
        roll = self.dice.random()
        if roll < 0.4:
            verb = self.dice.pick(vb.TRANSITIVES)
            said = self.pieces.doing(verb, self.pieces.someone_or_animal(verb), inverted=True)
        elif roll < 0.6:
            verb = self.dice.pick(vb.INTRANSITIVES)
            said = self.pieces.acting(self.pieces.someone_or_animal(verb), verb, inverted=True)
        elif roll < 0.8:
            said = self.pieces.being(self.actors.person(), inverted=True)
        else:
            said = self.pieces.to_somebody(inverted=True)
        return est_ce_que() + said

    def _where_is(self) -> Phrase:
        noun = self.dice.pick(FINDABLE)
        thing = self.actors.known(noun)
        key = ph.fresh_key()
        be = ("are", "sont") if thing.plural else ("is", "est")
        return fixed("where", "où") + Phrase([(be[0], key)], [(be[1], key)], []) + thing

    def _asked(self, word: tuple[str, str], verb: vb.Verb, **options: Any) -> Phrase:
        subject = self.actors.known_person()
        tense = options.pop("tense", None)
        if tense is None:
            tense = self.dice.pick((PRESENT, PAST, PAST, FUTURE))
        if self.dice.chance(0.3) and verb.progressive and tense == PRESENT:
            tense = PROGRESSIVE
        calm = word[0] != "when" and not verb.state and "negation" not in options
        if calm and self.dice.chance(0.25):
            options["after"] = (self.pieces.when(tense),)
        said = clause(subject, verb, tense, inverted=True, **options)
        return fixed(*word) + est_ce_que() + said

    def _where_do(self) -> Phrase:
        dice = self.dice
        if dice.chance(0.4):
            return self._asked(("where", "où"), dice.pick(STAYING))
        verb = vb.DO[dice.pick(("buy", "find", "see", "hide", "lose", "eat", "read", "meet"))]
        return self._asked(("where", "où"), verb, object=self.actors.known(dice.pick(verb.objects)))

    def _when_do(self) -> Phrase:
        verb = self.dice.pick(vb.INTRANSITIVES)
        return self._asked(("when", "quand"), verb, tense=self.dice.pick((PAST, FUTURE)))

    def _why(self) -> Phrase:
        dice = self.dice
        options: dict[str, Any] = {}
        if dice.chance(0.35):
            options = {"negation": NOT, "short": True}
        if dice.chance(0.4):
            return self._asked(("why", "pourquoi"), dice.pick(vb.INTRANSITIVES), **options)
        verb = dice.pick(vb.TRANSITIVES)
        if not verb.by_persons:
            verb = vb.DO["buy"]
        thing = self.actors.known(dice.pick(verb.objects))
        return self._asked(("why", "pourquoi"), verb, object=thing, **options)

    def _what(self) -> Phrase:
        return self._asked(("what", "que"), self.dice.pick(ASKABLE))

    def _whom(self) -> Phrase:
        return self._asked(("who", "qui"), self.dice.pick(ABOUT_PEOPLE[:14]))

    def _who_did(self) -> Phrase:
        dice = self.dice
        key = ph.fresh_key()
        who = NounPhrase([("who", key)], [("qui", key)], [], 0, 0, ph.IL)
        if dice.chance(0.25):
            return self.pieces.acting(who, dice.pick(vb.INTRANSITIVES))
        verb = dice.pick(vb.TRANSITIVES)
        if not verb.by_persons:
            verb = vb.DO["eat"]
        tense = self.pieces.tense(verb, who)
        return clause(who, verb, tense, object=self.actors.known(dice.pick(verb.objects)))

    def _which(self) -> Phrase:
        verb = self.dice.pick(ASKABLE)
        noun = self.dice.pick(tuple(n for n in verb.objects if "family" not in n.kinds))
        plural = int(not noun.mass and self.dice.chance(0.3))
        thing = noun_phrase(noun, ph.WHICH_ONES if plural else ph.WHICH, plural=plural)
        return self._about(thing, verb)

    def _how_many(self) -> Phrase:
        verb = self.dice.pick(COUNTED)
        noun = self.dice.pick(
            tuple(n for n in verb.objects if not n.mass and "family" not in n.kinds)
        )
        return self._about(noun_phrase(noun, ph.HOW_MANY, plural=1), verb)

    def _about(self, thing: NounPhrase, verb: vb.Verb) -> Phrase:
        subject = self.actors.known_person()
        tense = self.dice.pick((PRESENT, PAST, PAST, PAST, FUTURE))
        said = clause(subject, verb, tense, inverted=True, without_object=thing)
        return Phrase(thing.english, thing.french, thing.facts) + est_ce_que() + said
