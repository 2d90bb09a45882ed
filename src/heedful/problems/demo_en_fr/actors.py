"""Who and what a random sentence is about: subjects and objects, with fitting determiners."""

from .adjectives import BESIDE, Adjective
from .dice import Dice
from .names import PEOPLE
from .nouns import NOUNS, Noun, of_kinds
from .phrases import (
    A_LOT_OF,
    ANY,
    EVERY,
    HER,
    HIS,
    MANY,
    MY,
    NOT_A,
    NUMERALS,
    OUR,
    POSSESSIVES,
    SEVERAL,
    SOME,
    SOME_OF,
    THAT,
    THE,
    THEIR,
    THESE,
    THIS,
    THOSE,
    YOUR,
    A,
    Determiner,
    NounPhrase,
    both,
    named,
    noun_phrase,
    subject_pronoun,
)

PERSONS, ANIMALS = of_kinds("person"), of_kinds("animal")
# People of whom English too says he or she without a doubt.
HIM_OR_HER = of_kinds(
    "boy,girl,man,woman,king,queen,prince,princess,witch,lady,waiter,waitress,actor,actress,family,"
    "policeman,knight"
)
PRONOUNS = ("I",) * 4 + ("you",) * 4 + ("he",) * 3 + ("she",) * 3 + ("we",) * 4 + ("they",) * 3

_OWNED = POSSESSIVES + (MY, MY)
ONE = (THE,) * 13 + (A,) * 8 + (THIS,) * 2 + (THAT,) + _OWNED
ONE_DENIED = (THE,) * 12 + (NOT_A,) * 8 + (THIS,) * 2 + (THAT,) + _OWNED
MORE = (THE,) * 10 + (SOME,) * 5 + (THESE, THOSE) + _OWNED + NUMERALS + (MANY,) * 2 + (SEVERAL,) * 2
MORE_DENIED = (THE,) * 10 + (ANY,) * 7 + (THESE, THOSE) + _OWNED
MASS = (THE,) * 7 + (SOME_OF,) * 9 + (THIS, THAT, MY, YOUR, HIS, HER, OUR, THEIR) + (A_LOT_OF,) * 2
MASS_DENIED = (THE,) * 7 + (ANY,) * 9 + (THIS, THAT, MY, YOUR, HIS, HER, OUR, THEIR)
KNOWN = (THE,) * 8 + (THIS, THAT) + _OWNED  # one, and both sides know which
KNOWN_MORE = (THE,) * 8 + (THESE, THOSE) + _OWNED
FAMILY = POSSESSIVES + (MY,) * 2
AS_SUBJECT = (THE,) * 12 + (A,) * 3 + (THIS, THAT) + (MY, YOUR, HIS, HER, OUR, THEIR) + (EVERY,)


class Decks:
    """The determiners that suit a noun, by how it stands in its sentence."""

    def __init__(self, noun: Noun):
        self.subject = suiting(noun, KNOWN if noun.mass else AS_SUBJECT)
        self.one = suiting(noun, MASS if noun.mass else ONE)
        self.one_denied = suiting(noun, MASS_DENIED if noun.mass else ONE_DENIED)
        self.more = suiting(noun, MORE)
        self.more_denied = suiting(noun, MORE_DENIED)
        self.known = suiting(noun, KNOWN)
        self.known_more = suiting(noun, KNOWN_MORE)


# Nobody's: kings and women (doctors and neighbours may be ours), stations, rivers, hills.
UNOWNED = frozenset({"person", "public", "crossing", "height"})


def suiting(noun: Noun, deck: tuple[Determiner, ...]) -> tuple[Determiner, ...]:
    """The deck, without my and your where the noun is nobody's."""
    if noun.kinds & UNOWNED and "ours" not in noun.kinds and noun.name != "school":
        return tuple(determiner for determiner in deck if determiner not in POSSESSIVES)
    return deck


DECKS = {noun: Decks(noun) for noun in NOUNS.values()}


class Actors:
    """Draws noun phrases."""

    def __init__(self, dice: Dice):
        self.dice = dice

    def person(self) -> NounPhrase:
        """Somebody, as a subject: a pronoun, a name, two names, or a noun."""
        roll = self.dice.random()
        if roll < 0.50:
            return subject_pronoun(self.dice.pick(PRONOUNS))
        if roll < 0.64:
            return self.name()
        if roll < 0.67:
            return both(*self._two_names())
        return self.as_subject(self.dice.pick(PERSONS))

    def known_person(self) -> NounPhrase:
        """Somebody one can ask about: he, Paul, the king, but not some kings."""
        person = self.person()
        return self.name() if person.english[0][0] in INDEFINITE else person

    def other_person(self, *mentioned: NounPhrase) -> NounPhrase:
        """Somebody else than those mentioned. "They" is ils: never so after the girls, elles."""
        person = self.person()
        taken = {word for phrase in mentioned for word, _ in phrase.english}
        if any(phrase.plural & phrase.gender for phrase in mentioned):
            taken.add("they")
        said = [word for word, _ in person.english]
        by_noun = person.noun is not None
        if not taken.issuperset(said) if by_noun else taken.isdisjoint(said):
            return person
        person = self.name()
        while person.english[0][0] in taken:
            person = self.name()
        return person

    def name(self) -> NounPhrase:
        """Somebody, by name."""
        return named(*self.dice.pick(PEOPLE))

    def _two_names(self) -> tuple[NounPhrase, NounPhrase]:
        at, gap = self.dice.random(), 1 + int(self.dice.random() * (len(PEOPLE) - 1))
        first = int(at * len(PEOPLE))
        return named(*PEOPLE[first]), named(*PEOPLE[(first + gap) % len(PEOPLE)])

    def somebody(self) -> NounPhrase:
        """Somebody, anywhere in a sentence: never a pronoun, since those bend with their role."""
        return self.name() if self.dice.chance(0.35) else self.known(self.dice.pick(PERSONS))

    def animal(self) -> NounPhrase:
        """An animal, or several."""
        return self.as_subject(self.dice.pick(ANIMALS))

    def as_subject(self, noun: Noun) -> NounPhrase:
        """A noun to start a sentence with."""
        if "family" in noun.kinds:
            return self.of_family(noun)
        if not noun.mass and self.dice.chance(0.28):
            return self.dressed(noun, self.dice.pick(DECKS[noun].more), 1, 0.22)
        return self.dressed(noun, self.dice.pick(DECKS[noun].subject), 0, 0.22)

    def something(self, noun: Noun, denied: bool = False) -> NounPhrase:
        """A noun as an object, after a verb that may be denied."""
        if "family" in noun.kinds:
            return self.of_family(noun)
        dice, decks = self.dice, DECKS[noun]
        if not noun.mass and dice.chance(0.27):
            return self.dressed(
                noun, dice.pick(decks.more_denied if denied else decks.more), 1, 0.36
            )
        deck = decks.one_denied if denied else decks.one
        return self.dressed(noun, dice.pick(deck), 0, 0.2 if noun.mass else 0.36)

    def known(self, noun: Noun, adjective: float = 0.2) -> NounPhrase:
        """A noun both sides know: the, this, my; nothing that a negation would change."""
        if "family" in noun.kinds:
            return self.of_family(noun)
        if not noun.mass and self.dice.chance(0.22):
            return self.dressed(noun, self.dice.pick(DECKS[noun].known_more), 1, adjective)
        return self.dressed(noun, self.dice.pick(DECKS[noun].known), 0, adjective)

    def the(self, noun: Noun, plural: int = 0, adjective: float = 0.12) -> NounPhrase:
        """The plain definite."""
        return self.dressed(noun, THE, plural, adjective)

    def of_family(self, noun: Noun) -> NounPhrase:
        """A relative is somebody's: my sister, Mary's brother."""
        if self.dice.chance(0.2):
            return noun_phrase(noun, THE, owner=self.name())
        plural = int("brother" in noun.name or noun.name in ("sister", "uncle", "aunt", "son"))
        return noun_phrase(noun, self.dice.pick(FAMILY), plural=plural & self.dice.chance(0.3))

    def dressed(
        self, noun: Noun, determiner: Determiner, plural: int, adjective: float
    ) -> NounPhrase:
        """The noun with perhaps an adjective or two, or an owner."""
        dice = self.dice
        adjectives: tuple[Adjective, ...] = ()
        if dice.chance(adjective) and BESIDE[noun]:
            adjectives = (dice.pick(BESIDE[noun]),)
            if dice.chance(0.1):
                adjectives = self._one_on_each_side(adjectives[0], noun)
        owner = None
        if determiner is THE and not noun.mass and dice.chance(0.09) and noun.kinds & OWNABLE:
            owner = self.name() if dice.chance(0.55) else self._owner()
        return noun_phrase(noun, determiner, *adjectives, plural=plural, owner=owner)

    def _owner(self) -> NounPhrase:
        return noun_phrase(self.dice.pick(OWNERS), THE)

    def _one_on_each_side(self, adjective: Adjective, noun: Noun) -> tuple[Adjective, ...]:
        other = self.dice.pick(BESIDE[noun])
        if other.before == adjective.before or AT_ODDS & {adjective.name, other.name}:
            return (adjective,)
        return (adjective, other) if adjective.before else (other, adjective)


# Not in twos: "a pretty strange cat" is only rather strange, and good is never rotten.
AT_ODDS = frozenset({"pretty", "good", "bad", "excellent", "ugly"})
INDEFINITE = frozenset({"a", "some", "many", "several", "every"})
OWNABLE = frozenset({"animal", "thing", "wear", "read", "vehicle", "furniture", "home", "room"})
OWNERS = of_kinds("boy,girl,man,woman,king,queen,child,farmer,prince,teacher,doctor,neighbour")
