"""What takes more than one clause to say: and, but, because, if, who, that, in order to."""

from typing import Any

from . import adverbials as av
from . import phrases as ph
from . import verbs as vb
from .actors import HIM_OR_HER
from .clauses import (
    FUTURE,
    NOT,
    PAST,
    PAST_PROGRESSIVE,
    PRESENT,
    PROGRESSIVE,
    clause,
    is_like,
)
from .nouns import Noun
from .phrases import THE, NounPhrase, Phrase, comma, fixed, it, noun_phrase, place, subject_pronoun
from .pieces import Pieces
from .scenes import (
    ABOUT_PEOPLE,
    ANIMAL_REASONS,
    BACKGROUND,
    CHAINS,
    CONDITIONS,
    DEEDS,
    ERRANDS,
    HE_OR_SHE,
    KINDNESSES,
    OUTER,
    OWNERS_OF_DEEDS,
    REASONS,
    SUDDEN,
)
from .statements import Sentence


def pronoun_for(subject: NounPhrase) -> NounPhrase:
    """How a person or an animal just named is called the second time."""
    if subject.clitic is not None:  # it was a pronoun already
        return subject_pronoun(subject.english[0][0])
    if subject.noun is not None and "animal" in subject.noun.kinds:
        return ph.it_as_subject(subject)
    if subject.plural:
        return ph.it_as_subject(subject)
    pronoun = subject_pronoun(HE_OR_SHE[subject.gender])
    pronoun.noun = subject.noun
    return pronoun


class Compounds:
    """Draws sentences of several clauses that do not ask."""

    def __init__(self, pieces: Pieces):
        self.pieces = pieces
        self.dice = pieces.dice
        self.actors = pieces.actors

    def again(self) -> Sentence:
        """I bought the apple and I ate it: the object pronoun has its antecedent."""
        dice = self.dice
        subject = self.actors.person()
        if subject.noun is not None and subject.noun not in HIM_OR_HER:
            subject = self.actors.name()
        if dice.chance(0.22):
            first, second = dice.pick(KINDNESSES)
            noun = dice.pick(HIM_OR_HER)
        else:
            first, second, nouns = dice.pick(CHAINS)
            noun = dice.pick(nouns)
        thing = self._antecedent(noun)
        tense, later = dice.pick(
            ((PAST, PAST),) * 4 + ((PAST, FUTURE), (FUTURE, FUTURE), (PRESENT, PRESENT))
        )
        again = pronoun_for(subject)
        tense = self.pieces.clear(first, subject, tense)
        later = self.pieces.clear(second, again, later)
        opening = clause(subject, first, tense, object=thing)
        pronoun = it(thing) if "person" not in noun.kinds else self._him_or_her(thing)
        options: dict[str, Any] = {}
        word = ("and", "et")
        if dice.chance(0.3):
            word = ("but", "mais")
            options = {"negation": NOT, "short": dice.chance(0.5)}
        return opening + fixed(*word) + clause(again, second, later, object=pronoun, **options), "."

    def _antecedent(self, noun: Noun) -> NounPhrase:
        dice = self.dice
        if "family" in noun.kinds:
            return self.actors.of_family(noun)
        plural = int(not noun.mass and dice.chance(0.33))
        deck: tuple[ph.Determiner, ...]
        if plural:
            deck = (THE, THE, THE, ph.SOME, ph.NUMERALS[0], ph.NUMERALS[1], ph.MY, ph.THESE)
        elif noun.mass:
            deck = (THE, THE, THE, ph.SOME_OF, ph.THIS)
        else:
            deck = (THE, THE, THE, THE, ph.A, ph.A, ph.MY, ph.THIS)
        if "person" in noun.kinds:
            deck = (THE,)
        return self.actors.dressed(noun, dice.pick(deck), plural, 0.15)

    def _him_or_her(self, person: NounPhrase) -> NounPhrase:
        pronoun = it(person)
        if not person.plural:
            pronoun.english = [("her" if person.gender else "him", pronoun.english[0][1])]
        return pronoun

    def relative(self) -> Sentence:
        """The apple that I ate was delicious. I know the girl who sings."""
        dice = self.dice
        roll = dice.random()
        if roll < 0.3:
            return self._that_was_done(), "."
        if roll < 0.55:
            head = self._who_does()
            return self.pieces.being(head), "."
        if roll < 0.8:
            return self._likes_what_was_done(), "."
        verb = dice.pick(ABOUT_PEOPLE[:14])
        subject = self.actors.person()
        head = self._who_does()
        return clause(subject, verb, self.pieces.tense(verb, subject), object=head), "."

    def _who_does(self) -> NounPhrase:
        """A person or an animal with a "who" or "that" clause."""
        dice = self.dice
        verb = dice.pick(vb.TRANSITIVES) if dice.chance(0.5) else dice.pick(vb.INTRANSITIVES)
        person = verb.by_persons
        noun = dice.pick(OWNERS_OF_DEEDS if person else verb.animals)
        head = noun_phrase(noun, THE, plural=int(dice.chance(0.2)))
        tense = self.pieces.clear(verb, head, dice.pick((PRESENT, PROGRESSIVE, PAST, PAST)))
        if tense == PROGRESSIVE and not verb.progressive:
            tense = PRESENT
        key = ph.fresh_key()
        relative = NounPhrase(
            [("who" if person else "that", key)],
            [("qui", key)],
            [],
            head.gender,
            head.plural,
            head.person,
        )
        target = self.actors.known(dice.pick(verb.objects), 0.1) if verb.objects else None
        deed = clause(relative, verb, tense, object=target)
        head.english += deed.english
        head.french += deed.french
        head.facts += deed.facts
        return head

    def _what_was_done(self, verb: vb.Verb, noun: Noun, *mentioned: NounPhrase) -> NounPhrase:
        """A thing with a "that" clause of which it is the object, in a sentence about others."""
        dice = self.dice
        head = noun_phrase(noun, THE, plural=int(not noun.mass and dice.chance(0.35)))
        subject = self.actors.other_person(*mentioned)
        tense = PRESENT if verb.state else dice.pick((PAST, PAST, PAST, PRESENT))
        tense = self.pieces.clear(verb, subject, tense)
        deed = clause(subject, verb, tense, without_object=head)
        key = ph.fresh_key()
        head.english += [("that", key), *deed.english]
        head.french += [("que", key), *deed.french]
        head.facts += deed.facts
        return head

    def _that_was_done(self) -> Phrase:
        verb = self.dice.pick(DEEDS)
        noun = self.dice.pick(tuple(n for n in verb.objects if "person" not in n.kinds))
        return self.pieces.being(self._what_was_done(verb, noun))

    def _likes_what_was_done(self) -> Phrase:
        dice = self.dice
        verb = dice.pick(DEEDS)
        outer = dice.pick(OUTER)
        shared = tuple(n for n in verb.objects if n in outer.objects and "person" not in n.kinds)
        if not shared or outer.name == verb.name:
            return self._that_was_done()
        subject = self.actors.person()
        head = self._what_was_done(verb, dice.pick(shared), subject)
        return clause(subject, outer, self.pieces.tense(outer, subject), object=head)

    def because(self) -> Sentence:
        """She is sleeping because she is tired."""
        dice = self.dice
        if dice.chance(0.4):
            verb, quality = dice.pick(ANIMAL_REASONS)
            subject = self.actors.animal()
        else:
            verb, quality = dice.pick(REASONS)
            subject = self.actors.person()
            if subject.noun is not None and subject.noun not in HIM_OR_HER and not subject.plural:
                subject = self.actors.name()
        tense = dice.pick((PRESENT, PROGRESSIVE, PAST, PAST))
        tense = self.pieces.clear(verb, subject, tense)
        state = PAST if tense == PAST else PRESENT
        reason = is_like(pronoun_for(subject), quality, state)
        if dice.chance(0.25) and tense == PRESENT:
            subject.facts += reason.facts
            opening = fixed("when", "quand") + is_like(subject, quality, PRESENT) + comma()
            return opening + clause(pronoun_for(subject), verb, tense), "."
        return clause(subject, verb, tense) + fixed("because", "parce que") + reason, "."

    def joined(self) -> Sentence:
        """I sing and you dance. I was sleeping when he arrived. If you open the door, ..."""
        dice = self.dice
        roll = dice.random()
        one = self.actors.person()
        other = self.actors.other_person(one)
        if roll < 0.45:
            first, second = dice.pick(vb.INTRANSITIVES), dice.pick(vb.INTRANSITIVES)
            if other.english[0][0] == "every":
                other = self.actors.name()
            tense = self.pieces.tense(first, one)
            after = self.pieces.clear(second, other, tense)
            word = dice.pick((("and", "et"), ("but", "mais")))
            denied: dict[str, Any] = (
                {"negation": NOT, "short": dice.chance(0.5)} if word[0] == "but" else {}
            )
            return clause(one, first, tense) + fixed(*word) + clause(
                other, second, after, **denied
            ), "."
        if roll < 0.75:
            meanwhile = clause(one, dice.pick(BACKGROUND), PAST_PROGRESSIVE)
            suddenly = clause(other, dice.pick(SUDDEN), PAST)
            return meanwhile + fixed("when", "quand") + suddenly, "."
        verb = dice.pick(CONDITIONS)
        thing = self.actors.known(dice.pick(verb.objects), 0.1)
        if thing.plural & thing.gender:
            other = self.actors.other_person(one, thing)
        now = self.pieces.clear(verb, one, PRESENT)
        condition = clause(one, verb, now, object=thing)
        outcome = clause(other, dice.pick(vb.INTRANSITIVES), FUTURE)
        return fixed("if", "si") + condition + comma() + outcome, "."

    def thinks(self) -> Sentence:
        """I think that Mary is sick."""
        dice = self.dice
        verb = dice.pick((vb.THINK, vb.KNOW_THAT, vb.SAY))
        subject = self.actors.person()
        tense = PRESENT
        inner_subject = self.actors.person()
        if inner_subject.english[0][0] == "they" and subject.plural & subject.gender:
            inner_subject = pronoun_for(subject)
        roll = dice.random()
        if roll < 0.5:
            inner = self.pieces.being(inner_subject)
        elif roll < 0.75:
            inner = clause(inner_subject, dice.pick(vb.INTRANSITIVES[:15]), FUTURE)
        else:
            deed = dice.pick(DEEDS)
            thing = self.actors.something(dice.pick(deed.objects))
            inner = clause(
                inner_subject, deed, self.pieces.clear(deed, inner_subject, PAST), object=thing
            )
        return clause(subject, verb, tense) + fixed("that", "que") + inner, "."

    def in_order_to(self) -> Sentence:
        """He goes to the market to buy some bread."""
        dice = self.dice
        subject = self.actors.person()
        goal, verb, nouns = dice.pick(ERRANDS)
        noun = dice.pick(nouns)
        thing = self.actors.something(noun)
        tense = self.pieces.tense(vb.GO, subject)
        key = ph.fresh_key()
        errand = Phrase(
            [("to", key), (verb.base, key), *((w, key) for w in verb.particle), *thing.english],
            [("pour", key), (verb.french.infinitive, key), *thing.french],
            [*thing.facts, (verb.name, noun.name)],
        )
        return clause(subject, vb.GO, tense, after=(place(av.TO, noun_phrase(goal)), errand)), "."
