"""Random clauses and adjuncts, from which every construction is put together."""

from typing import Any

from . import adverbials as av
from . import clauses as cl
from . import phrases as ph
from . import verbs as vb
from .actors import Actors
from .adjectives import BESIDE, SAID_OF, Adjective, Sensation
from .clauses import (
    FUTURE,
    NEVER,
    NO_MORE,
    NOT,
    PAST,
    PAST_PROGRESSIVE,
    PRESENT,
    PROGRESSIVE,
    clause,
    is_ambiguous,
    is_like,
)
from .dice import Dice
from .names import CITIES, COUNTRIES
from .nouns import Noun
from .phrases import NounPhrase, Phrase, comma, fixed, noun_phrase, place
from .scenes import (
    ABOUT_PEOPLE,
    ALIVE,
    ANIMAL_FEELINGS,
    ATTITUDES,
    BATHING,
    CONTAINERS,
    DONE_IN_ROOM,
    FEELINGS,
    LANDMARKS,
    LASTING,
    MODALS,
    OBJECTS,
    ONGOING,
    OTHERS_THAN,
    PASSING,
    PLACES_AT,
    PLACES_IN,
    PUT_DOWN,
    RIVALS,
    SAID_OF_PEOPLE,
    SURFACES,
    TENSES,
    UPRIGHT,
)


class Pieces:
    """Draws the parts of sentences."""

    def __init__(self, dice: Dice):
        self.dice = dice
        self.actors = Actors(dice)

    def tense(self, verb: vb.Verb, subject: NounPhrase) -> int:
        """A tense the verb can take."""
        tense = self.dice.pick(TENSES)
        if tense == PROGRESSIVE and not verb.progressive:
            tense = PRESENT
        elif tense == PAST_PROGRESSIVE and verb not in ONGOING:
            tense = PAST
        return self.clear(verb, subject, tense)

    def clear(self, verb: vb.Verb, subject: NounPhrase, tense: int) -> int:
        """Another tense where English would leave this one open ("I read")."""
        if is_ambiguous(verb, subject, tense):
            return PROGRESSIVE if tense == PRESENT else FUTURE
        return tense

    def modal(self, verb: vb.Verb, tense: int) -> tuple[vb.Modal, int]:
        """A modal for the verb, and the tense to say it in."""
        modal = self.dice.pick(MODALS)
        if modal.name == "begin" and verb not in ONGOING:  # one begins to sing, not to arrive
            modal = vb.MODALS["try"]
        tense = PAST if tense == PAST and modal.past else PRESENT
        return modal, tense

    def denies(self, subject: NounPhrase, probability: float) -> bool:
        """Deny this? Not of every man: "every man does not sing" leaves open who does."""
        return self.dice.chance(probability) and subject.english[0][0] != "every"

    def negation(self, verb: vb.Verb, tense: int) -> cl.Negation:
        """A way to deny a verb in a tense."""
        roll = self.dice.random()
        if roll < 0.2 and tense in (PRESENT, PAST, FUTURE) and not (verb.state and tense == PAST):
            return NEVER
        if roll < 0.4 and (tense == PRESENT or (tense == PAST and verb.state)):
            return NO_MORE
        return NOT

    def when(self, tense: int) -> Phrase:
        """A time that goes with the tense."""
        return fixed(*self.dice.pick(av.WHEN[tense]))

    def where(self) -> Phrase:
        """A place to do something in."""
        dice = self.dice
        roll = dice.random()
        if roll < 0.45:
            return place(av.IN, self.actors.the(dice.pick(PLACES_IN)))
        if roll < 0.65:
            return place(av.AT, self.actors.the(dice.pick(PLACES_AT), adjective=0.0))
        if roll < 0.8:
            return place(
                dice.pick((av.NEAR, av.BEHIND, av.IN_FRONT)), self.actors.the(dice.pick(LANDMARKS))
            )
        return self.far_away("in")

    def far_away(self, english: str) -> Phrase:
        """In or to a city or a country."""
        if self.dice.chance(0.55):
            city, ville = self.dice.pick(CITIES)
            return fixed(english, "à") + fixed(city, ville)
        country, en_pays = self.dice.pick(COUNTRIES)
        en, pays = en_pays.split()
        return fixed(english, en) + fixed(country, pays)

    def company(self) -> Phrase:
        """With somebody."""
        return place(av.WITH, self.actors.somebody())

    def someone_or_animal(self, verb: vb.Verb) -> NounPhrase:
        """A subject that can do the verb."""
        if verb.animals and (not verb.by_persons or self.dice.chance(0.35)):
            return self.actors.as_subject(self.dice.pick(verb.animals))
        return self.actors.person()

    def doing(self, verb: vb.Verb, subject: NounPhrase, **more: Any) -> Phrase:
        """A transitive clause in a random tense, perhaps denied, with what may follow."""
        dice = self.dice
        tense = self.tense(verb, subject)
        options: dict[str, Any] = {}
        time_of: int | None = tense
        if dice.chance(0.13) and not verb.state:
            options["modal"], tense = self.modal(verb, tense)
            time_of = None
        if "inverted" not in more and self.denies(subject, 0.17):
            modal = options.get("modal")
            options["negation"] = NOT if modal else self.negation(verb, tense)
            options["short"] = dice.chance(0.5)
        elif not options and not verb.state and tense in (PRESENT, PAST) and dice.chance(0.1):
            options["adverb"] = dice.pick(av.OFTEN)
        noun = dice.pick(verb.objects)
        if "instrument" in noun.kinds and verb.preposition:  # one plays the piano, not a piano
            options["object"] = noun_phrase(noun)
        elif verb in ATTITUDES or (verb.preposition and "negation" in options):
            # "Pas de" is for direct objects: il n'a pas parlé *à un* médecin.
            options["object"] = self.actors.known(noun, 0.3)
        else:
            options["object"] = self.actors.something(noun, denied="negation" in options)
        after: tuple[Phrase, ...] = ()
        calm = "negation" not in options and "adverb" not in options
        if verb.name in DONE_IN_ROOM and dice.chance(0.15):
            after = (self.where(),)
        if time_of is not None and calm and not verb.state and not after and dice.chance(0.28):
            if dice.chance(0.25) and "inverted" not in more:
                said = clause(subject, verb, tense, **options, **more)
                return self.when(time_of) + comma() + said
            after = (*after, self.when(time_of))
        return clause(subject, verb, tense, after=after, **options, **more)

    def acting(self, subject: NounPhrase, verb: vb.Verb, **more: Any) -> Phrase:
        """An intransitive clause with how, where, with whom or when."""
        dice = self.dice
        tense = self.tense(verb, subject)
        options: dict[str, Any] = {}
        time_of: int | None = tense
        if dice.chance(0.12):
            options["modal"], tense = self.modal(verb, tense)
            time_of = None
        if "inverted" not in more and self.denies(subject, 0.15):
            options["negation"] = NOT if "modal" in options else self.negation(verb, tense)
            options["short"] = dice.chance(0.5)
        after: list[Phrase] = []
        roll = dice.random()
        plain = not options
        if roll < 0.15:
            if plain and av.HOW_WELL.get(verb.name):
                options["adverb"] = dice.pick(av.HOW_WELL[verb.name])
        elif roll < 0.25:
            if plain and tense in (PRESENT, PAST):
                options["adverb"] = dice.pick(av.OFTEN)
        elif roll < 0.45:
            if verb.name in av.MANNERS:
                after.append(fixed(*dice.pick(av.MANNERS[verb.name])))
        elif roll < 0.65:
            if verb.name == "travel":
                after.append(self.far_away("in"))
            elif verb.name == "swim":
                after.append(place(av.IN, self.actors.the(dice.pick(BATHING))))
            elif not verb.with_be:
                after.append(self.where())
        elif roll < 0.73:
            human = subject.noun is None or "person" in subject.noun.kinds
            if human and verb.name not in av.IN_PRIVATE:
                after.append(self.company())
        elif roll < 0.77 and subject.plural:
            after.append(fixed(*av.TOGETHER))
        if time_of is not None and plain and "adverb" not in options and dice.chance(0.45):
            after.append(self.when(time_of))
        return clause(subject, verb, tense, after=tuple(after), **options, **more)

    def being(self, subject: NounPhrase, **more: Any) -> Phrase:
        """A clause that says how somebody or something is."""
        dice = self.dice
        quality = self.quality(subject)
        if subject.facts and subject.noun:
            said = {adjective for adjective, noun in subject.facts if noun == subject.noun.name}
            while said & RIVALS.get(quality.name, {quality.name}):  # the strange film is strange
                quality = self.quality(subject)
        tense = dice.pick((PRESENT, PRESENT, PRESENT, PAST, PAST, FUTURE))
        if quality.name in LASTING:
            tense = PRESENT
        degree = ""
        options: dict[str, Any] = {}
        if dice.chance(0.25):
            if isinstance(quality, Sensation):
                degree = "very" if quality.name in ("hungry", "thirsty", "hot", "cold") else ""
            elif quality.graded:
                degree = dice.pick(("very", "very", "too"))
        if "inverted" not in more and self.denies(subject, 0.18):
            options["negation"] = dice.pick((NOT, NOT, NOT, NEVER, NO_MORE))
            options["short"] = dice.chance(0.5)
            degree = "" if options["negation"] is not NOT else degree
            if options["negation"] is NO_MORE and tense == FUTURE:
                tense = PRESENT
            if quality.name not in PASSING:
                options["negation"] = NOT
        elif dice.chance(0.15) and tense == PRESENT and quality.name in PASSING:
            options["adverb"] = dice.pick(av.OFTEN)
        elif dice.chance(0.35) and quality.name in PASSING:
            options["after"] = (self.when(PROGRESSIVE if tense == PRESENT else tense),)
        return is_like(subject, quality, tense, degree, **options, **more)

    def quality(self, subject: NounPhrase) -> Adjective | Sensation:
        """Something that may be said of the subject."""
        noun = subject.noun
        if noun is None or "person" in noun.kinds:
            if self.dice.chance(0.3):
                return self.dice.pick(FEELINGS)
            return self.dice.pick(SAID_OF_PEOPLE if noun is None else SAID_OF[noun])
        if "animal" in noun.kinds and self.dice.chance(0.3):
            return self.dice.pick(ANIMAL_FEELINGS)
        return self.dice.pick(SAID_OF[noun])

    def to_somebody(self, **more: Any) -> Phrase:
        """A clause whose object is me, you, him, her or us."""
        dice = self.dice
        verb = dice.pick(ABOUT_PEOPLE)
        subject = self.actors.person()
        name = dice.pick(OTHERS_THAN.get(subject.english[0][0], OBJECTS))
        options: dict[str, Any] = {"object": ph.object_pronoun(name)}
        tense = self.tense(verb, subject)
        if dice.chance(0.15) and not verb.state:
            options["modal"], tense = self.modal(verb, tense)
        if "inverted" not in more and self.denies(subject, 0.18):
            options["negation"] = NOT if "modal" in options else self.negation(verb, tense)
            options["short"] = dice.chance(0.5)
        elif "modal" in options or verb.state:
            pass
        elif tense in (PRESENT, PAST) and dice.chance(0.15):
            options["adverb"] = dice.pick(av.OFTEN)
        elif dice.chance(0.5):
            options["after"] = (self.when(tense),)
        return clause(subject, verb, tense, **options, **more)

    def there_is(self, asking: bool) -> Phrase:
        """There is something somewhere; asking puts the verb first in English."""
        dice = self.dice
        small = dice.chance(0.5)
        noun = dice.pick(PUT_DOWN if small else ALIVE)
        plural = int(not noun.mass and dice.chance(0.45))
        denied = dice.chance(0.2) and not asking
        if denied:
            determiner = ph.NO
        elif plural:
            determiner = dice.pick((ph.SOME, ph.SOME, ph.MANY, ph.SEVERAL) + ph.NUMERALS)
        else:
            determiner = ph.SOME_OF if noun.mass else ph.A
        thing = self.actors.dressed(noun, determiner, plural, 0.25)
        where = self.spot() if small else self.open_place()
        tense = PRESENT if asking else dice.pick((PRESENT, PRESENT, PRESENT, PAST))
        is_ = ("are" if plural else "is") if tense == PRESENT else ("were" if plural else "was")
        has = "a" if tense == PRESENT else "avait"
        key = ph.fresh_key()
        english = [(is_, key), ("there", key)] if asking else [("there", key), (is_, key)]
        if denied:
            deny = thing.english[0][1]
            french = [("il", key), ("ne", deny), ("y", key), (has, key), ("pas", deny)]
        else:
            french = [("il", key), ("y", key), (has, key)]
        return Phrase(english, french, []) + thing + where

    def spot(self) -> Phrase:
        """On the table, in the box: where small things are."""
        if self.dice.chance(0.5):
            where = self.dice.pick((av.ON, av.ON, av.UNDER, av.BEHIND))
            surfaces = UPRIGHT if where is av.BEHIND else SURFACES
            return place(where, self.actors.the(self.dice.pick(surfaces)))
        return place(av.IN, self.actors.the(self.dice.pick(CONTAINERS)))

    def open_place(self) -> Phrase:
        """In the park, near the lake: where people and animals are."""
        if self.dice.chance(0.6):
            return place(av.IN, self.actors.the(self.dice.pick(PLACES_IN)))
        return place(
            self.dice.pick((av.NEAR, av.BEHIND, av.IN_FRONT)),
            self.actors.the(self.dice.pick(LANDMARKS)),
        )

    def maybe_adjective(self, noun: Noun) -> tuple[Adjective, ...]:
        """Now and then an adjective that suits the noun."""
        return (self.dice.pick(BESIDE[noun]),) if self.dice.chance(0.25) else ()
