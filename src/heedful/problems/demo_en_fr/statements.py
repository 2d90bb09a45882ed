"""What the demo language states, orders and exclaims in one clause, a method a construction."""

from typing import Any

from . import adverbials as av
from . import phrases as ph
from . import verbs as vb
from .adjectives import SAID_OF
from .clauses import (
    FUTURE,
    NOBODY,
    NOT,
    NOTHING,
    PAST,
    PRESENT,
    PROGRESSIVE,
    clause,
    compares,
)
from .nouns import NOUNS
from .phrases import THE, Phrase, fixed, noun_phrase, place
from .pieces import Pieces
from .scenes import (
    ADMIRABLE,
    ANYONE,
    ANYTHING,
    BEST,
    COMMANDS,
    COMPARABLE,
    COMPARED_KINDS,
    CONTESTS,
    GENERIC_LIKES,
    GOALS,
    GRADED,
    LANDMARKS,
    LIKED,
    LIVEABLE,
    NEEDED,
    OBJECTS,
    OTHERS_THAN,
    POINTED_AT,
    PUT_DOWN,
    STRIKING,
    THINGS,
    WEATHER,
    WILD_GOALS,
)

Sentence = tuple[Phrase, str]  # the words, and the mark that ends them


class Statements:
    """Draws sentences of one clause that do not ask."""

    def __init__(self, pieces: Pieces):
        self.pieces = pieces
        self.dice = pieces.dice
        self.actors = pieces.actors

    def does_something(self) -> Sentence:
        """I like the green cat."""
        verb = self.dice.pick(vb.TRANSITIVES)
        return self.pieces.doing(verb, self.pieces.someone_or_animal(verb)), "."

    def acts(self) -> Sentence:
        """She sings well."""
        verb = self.dice.pick(vb.INTRANSITIVES)
        return self.pieces.acting(self.pieces.someone_or_animal(verb), verb), "."

    def moves(self) -> Sentence:
        """We are going to the market."""
        dice = self.dice
        verb = dice.pick(
            (vb.GO, vb.GO, vb.GO, vb.COME, vb.LIVE, vb.LIVE, vb.ENTER, vb.ACT["arrive"])
        )
        subject = self.pieces.someone_or_animal(verb)
        tense = self.pieces.tense(verb, subject)
        options: dict[str, Any] = {}
        if self.pieces.denies(subject, 0.14):
            options["negation"] = NOT if verb is vb.LIVE else self.pieces.negation(verb, tense)
            options["short"] = dice.chance(0.5)
        after: tuple[Phrase, ...] = ()
        human = subject.noun is None or "person" in subject.noun.kinds
        if verb is vb.LIVE:
            if dice.chance(0.5):
                after = (self.pieces.far_away("in"),)
            elif dice.chance(0.4):
                after = (place(av.NEAR, self.actors.the(dice.pick(LANDMARKS))),)
            else:
                determiner = dice.pick((ph.THE, ph.A, ph.THIS))
                if "negation" in options:
                    determiner = THE
                home = self.actors.dressed(dice.pick(LIVEABLE), determiner, 0, 0.4)
                after = (place(av.IN, home),)
            return clause(subject, verb, tense, after=after, **options), "."
        if verb is vb.ENTER:
            target = self.actors.known(dice.pick(verb.objects))
            return clause(subject, verb, tense, object=target, **options), "."
        to = "at" if verb.name == "arrive" else "to"
        far = human and dice.chance(0.4) and to == "to"
        if far:
            where = self.pieces.far_away(to)
        else:
            where = place((to, "à"), self.actors.the(dice.pick(GOALS if human else WILD_GOALS)))
        after = (where,)
        if not options and human and dice.chance(0.22) and verb is vb.GO:
            after += (fixed(*dice.pick(av.BY_FAR if far else av.BY_NEAR)),)
        elif not options and dice.chance(0.4):
            after += (self.pieces.when(tense),)
        return clause(subject, verb, tense, after=after, **options), "."

    def is_somehow(self) -> Sentence:
        """The old car is red."""
        if self.dice.chance(0.45):
            return self.pieces.being(self.actors.person()), "."
        noun = self.dice.pick(THINGS)
        return self.pieces.being(
            self.actors.as_subject(noun) if noun.kinds & {"animal"} else self.actors.known(noun)
        ), "."

    def compared(self) -> Sentence:
        """The horse is bigger than the dog."""
        dice = self.dice
        kind = dice.pick(COMPARED_KINDS)
        first, second = dice.pick(COMPARABLE[kind]), dice.pick(COMPARABLE[kind])
        shared = tuple(a for a in GRADED[first] if a in SAID_OF[second])
        if kind == "person" and dice.chance(0.5):
            subject, other = self.actors.person(), self.actors.name()
            while other.english[0][0] in [word for word, _ in subject.english]:
                other = self.actors.name()
            quality = dice.pick(GRADED[subject.noun or NOUNS["woman"]])
        elif first is second or not shared:
            return self.is_somehow()
        else:
            subject, other = self.actors.known(first, 0.0), self.actors.known(second, 0.0)
            quality = dice.pick(shared)
        how = dice.pick(("more", "more", "more", "as", "less"))
        tense = dice.pick((PRESENT, PRESENT, PAST))
        return clause(subject, vb.BE, tense, after=(compares(how, quality, subject, other),)), "."

    def to_somebody(self) -> Sentence:
        """Paul helped me yesterday."""
        return self.pieces.to_somebody(), "."

    def gives(self) -> Sentence:
        """He gave me a book. She sends the letter to the king."""
        dice = self.dice
        verb = dice.pick((vb.GIVE, vb.GIVE, vb.SEND, vb.SHOW, vb.BRING, vb.TELL))
        subject = self.actors.person()
        tense = self.pieces.tense(verb, subject)
        options: dict[str, Any] = {}
        if self.pieces.denies(subject, 0.15):
            options["negation"] = self.pieces.negation(verb, tense)
            options["short"] = dice.chance(0.5)
        thing = self.actors.something(dice.pick(verb.objects), denied="negation" in options)
        if dice.chance(0.5):
            name = dice.pick(OTHERS_THAN.get(subject.english[0][0], OBJECTS))
            if not subject.plural and dice.chance(0.2):
                name = "they"  # leur, whoever they are
            options["recipient"] = ph.object_pronoun(name)
        else:
            options["after"] = (place(av.TO, self.actors.somebody()),)
        return clause(subject, verb, tense, object=thing, **options), "."

    def puts(self) -> Sentence:
        """Put on, in and under: she put the cup on the table."""
        dice = self.dice
        subject = self.actors.person()
        tense = self.pieces.tense(vb.PUT, subject)
        thing = self.actors.something(dice.pick(PUT_DOWN))
        return clause(subject, vb.PUT, tense, object=thing, after=(self.pieces.spot(),)), "."

    def needs(self) -> Sentence:
        """I need a key: avoir besoin de."""
        dice = self.dice
        subject = self.actors.person()
        tense = dice.pick((PRESENT, PRESENT, PAST, FUTURE))
        noun = dice.pick(NEEDED)
        key = ph.fresh_key()
        determiner = dice.pick((ph.A, ph.THE, ph.MY, ph.YOUR, ph.THIS, ph.HIS, ph.HER))
        options: dict[str, Any] = {}
        if self.pieces.denies(subject, 0.2):
            options["negation"] = NOT
            options["short"] = dice.chance(0.5)
            if determiner is ph.A:
                determiner = THE
        thing = self.actors.dressed(noun, determiner, 0, 0.2)
        needed = Phrase(
            thing.english,
            [("besoin", key), *ph.with_preposition("de", key, thing.french)],
            [*thing.facts, ("need", noun.name)],
        )
        return clause(subject, vb.NEED, tense, after=(needed,), **options), "."

    def likes_generally(self) -> Sentence:
        """I like cats: j'aime les chats."""
        noun = self.dice.pick(LIKED)
        kinds = noun_phrase(
            noun, ph.GENERIC, *self.pieces.maybe_adjective(noun), plural=int(not noun.mass)
        )
        subject = self.actors.person()
        options: dict[str, Any] = {}
        if self.pieces.denies(subject, 0.25):
            options = {"negation": NOT, "short": self.dice.chance(0.5)}
        verb = self.dice.pick(GENERIC_LIKES)
        tense = self.dice.pick((PRESENT, PRESENT, PRESENT, PAST))
        return clause(subject, verb, tense, object=kinds, **options), "."

    def finds_nothing(self) -> Sentence:
        """He did not see anything. I do not know anyone."""
        dice = self.dice
        negation, verbs = dice.pick(((NOTHING, ANYTHING), (NOBODY, ANYONE)))
        verb = dice.pick(verbs)
        subject = self.actors.known_person()
        tense = self.pieces.tense(verb, subject)
        options: dict[str, Any] = {}
        if dice.chance(0.15):
            options["modal"], tense = vb.MODALS["want"], PRESENT
        return clause(
            subject, verb, tense, negation=negation, short=dice.chance(0.5), **options
        ), "."

    def there_is(self) -> Sentence:
        """There are three birds in the garden."""
        return self.pieces.there_is(asking=False), "."

    def commands(self) -> Sentence:
        """Close the door! Please do not open the window."""
        dice = self.dice
        verb = dice.pick(COMMANDS)
        key, deny = ph.fresh_key(), ph.fresh_key()
        denied = dice.chance(0.3)
        noun = dice.pick(verb.objects)
        thing = self.actors.known(noun)
        english = [(word, key) for word in (verb.base, *verb.particle)]
        french = [(verb.french.present[ph.VOUS], key)]
        if denied:
            opening = [("don't", deny)] if dice.chance(0.5) else [("do", deny), ("not", deny)]
            english = opening + english
            french = [("ne", deny), *french, ("pas", deny)]
        said = (
            ph.with_preposition(verb.preposition, key, thing.french)
            if verb.preposition
            else (thing.french)
        )
        phrase = Phrase(
            english + thing.english, french + said, [*thing.facts, (verb.name, noun.name)]
        )
        if dice.chance(0.3):
            polite = ph.fresh_key()
            phrase.english.insert(0, ("please", polite))
            phrase.french += [
                (",", polite),
                ("s'", polite),
                ("il", polite),
                ("vous", polite),
                ("plaît", polite),
            ]
            return phrase, "."
        return phrase, "!" if dice.chance(0.4) else "."

    def exclaims(self) -> Sentence:
        """What a beautiful house!"""
        noun = self.dice.pick(ADMIRABLE)
        return noun_phrase(noun, ph.WHAT_A, self.dice.pick(STRIKING[noun])), "!"

    def presents(self) -> Sentence:
        """This is my cat. These are the most beautiful shoes in the shop."""
        dice = self.dice
        noun = dice.pick(POINTED_AT)
        plural = int(dice.chance(0.3))
        key = ph.fresh_key()
        this = dice.pick(("these", "those") if plural else ("this", "that"))
        english = [(this, key), ("are" if plural else "is", key)]
        french = [("ce", key), ("sont", key)] if plural else [("c'", key), ("est", key)]
        where: Phrase | None = None
        if dice.chance(0.35) and BEST[noun]:
            thing = noun_phrase(noun, THE, dice.pick(BEST[noun]), plural=plural, superlative=True)
            if dice.chance(0.5):
                where = place(("in", "de"), noun_phrase(dice.pick(CONTESTS[noun])))
        elif dice.chance(0.3):
            owner = self.actors.name()
            thing = noun_phrase(
                noun, THE, *self.pieces.maybe_adjective(noun), plural=plural, owner=owner
            )
        else:
            deck = (ph.SOME,) + ph.POSSESSIVES if plural else (ph.A, ph.A) + ph.POSSESSIVES
            thing = self.actors.dressed(noun, dice.pick(deck), plural, 0.4)
        phrase = Phrase(english, french, []) + thing
        return (phrase + where if where else phrase), "."

    def weather(self) -> Sentence:
        """It is raining in Paris."""
        dice = self.dice
        tense = dice.pick((PRESENT, PAST, FUTURE))
        phrase = fixed(*dice.pick(WEATHER)[tense])
        if dice.chance(0.6):
            phrase = phrase + self.pieces.far_away("in")
        if dice.chance(0.5):
            phrase = phrase + self.pieces.when(PROGRESSIVE if tense == PRESENT else tense)
        return phrase, "."
