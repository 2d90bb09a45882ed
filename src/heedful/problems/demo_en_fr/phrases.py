"""Noun phrases, said in both languages at once: the green cat, le chat vert."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

from .adjectives import BETTER, Adjective
from .french import CONTRACTED, starts_with_vowel
from .nouns import FEMININE, MASCULINE, Noun
from .words import words

Token = tuple[str, Any]  # a word, and the key (or tuple of keys) of the concept it expresses
Fact = tuple[str, str]  # (adjective, noun) or (verb, noun): what splits hold out

fresh_key = count(1).__next__
_words = cache(words)  # fixed expressions are few and come back often
JE, IL, NOUS, VOUS, ILS = 0, 2, 3, 4, 5  # rows of a conjugation; 1 is tu, which nobody says


class Phrase:
    """The same thing said twice: English and French words with their keys, and the facts in it."""

    __slots__ = ("english", "facts", "french")

    def __init__(self, english: list[Token], french: list[Token], facts: list[Fact]):
        self.english = english
        self.french = french
        self.facts = facts

    def __add__(self, other: "Phrase") -> "Phrase":
        return Phrase(
            self.english + other.english, self.french + other.french, self.facts + other.facts
        )


class NounPhrase(Phrase):
    """A phrase that can be a subject or an object, and what agreement must know of it."""

    __slots__ = ("clitic", "gender", "noun", "person", "plural")

    def __init__(
        self,
        english: list[Token],
        french: list[Token],
        facts: list[Fact],
        gender: int,
        plural: int,
        person: int,
        noun: Noun | None = None,
        clitic: tuple[str, str] | None = None,
    ):
        super().__init__(english, french, facts)
        self.gender = gender
        self.plural = plural
        self.person = person
        self.noun = noun
        self.clitic = clitic  # as a pronoun before the verb: direct (le), indirect (lui)


@dataclass(frozen=True, eq=False)
class Determiner:
    """What opens a noun phrase: the, a, my, three, many."""

    name: str
    english: tuple[str, ...]
    french: tuple[tuple[tuple[str, ...], tuple[str, ...]], tuple[tuple[str, ...], tuple[str, ...]]]
    plural: int | None  # None: goes with both numbers
    before_vowel: tuple[str, str] | None = None  # singular, by gender, where elision cannot do it
    drops_s: bool = False  # des becomes de before an adjective: de petits chats


def _determiner(
    english: str,
    his: str,
    hers: str,
    many: str,
    plural: int | None,
    before_vowel: tuple[str, str] | None = None,
    drops_s: bool = False,
) -> Determiner:
    many_words = tuple(many.split())
    french = ((tuple(his.split()), many_words), (tuple(hers.split()), many_words))
    return Determiner(english, tuple(english.split()), french, plural, before_vowel, drops_s)


def _numeral(english: str, french: str) -> Determiner:
    return _determiner(english, french, french, french, 1)


THE = _determiner("the", "le", "la", "les", None)
A = _determiner("a", "un", "une", "", 0)
SOME = _determiner("some", "", "", "des", 1, drops_s=True)
SOME_OF = _determiner("some", "du", "de la", "", 0, ("de l'", "de l'"))
NOT_A = _determiner("a", "de", "de", "", 0)  # after a negation: pas de chat
ANY = _determiner("any", "de", "de", "de", None)
THIS = _determiner("this", "ce", "cette", "", 0, ("cet", "cette"))
THAT = _determiner("that", "ce", "cette", "", 0, ("cet", "cette"))
THESE = _determiner("these", "", "", "ces", 1)
THOSE = _determiner("those", "", "", "ces", 1)
MY = _determiner("my", "mon", "ma", "mes", None, ("mon", "mon"))
YOUR = _determiner("your", "votre", "votre", "vos", None)
HIS = _determiner("his", "son", "sa", "ses", None, ("son", "son"))
HER = _determiner("her", "son", "sa", "ses", None, ("son", "son"))
OUR = _determiner("our", "notre", "notre", "nos", None)
THEIR = _determiner("their", "leur", "leur", "leurs", None)
POSSESSIVES = (MY, YOUR, HIS, HER, OUR, THEIR)
NUMERALS = (
    _numeral("two", "deux"),
    _numeral("three", "trois"),
    _numeral("four", "quatre"),
    _numeral("five", "cinq"),
    _numeral("six", "six"),
    _numeral("seven", "sept"),
    _numeral("eight", "huit"),
    _numeral("nine", "neuf"),
    _numeral("ten", "dix"),
)
MANY = _determiner("many", "", "", "beaucoup de", 1)
SEVERAL = _determiner("several", "", "", "plusieurs", 1)
A_LOT_OF = _determiner("a lot of", "beaucoup de", "beaucoup de", "beaucoup de", 0)
EVERY = _determiner("every", "chaque", "chaque", "", 0)
WHICH = _determiner("which", "quel", "quelle", "", 0)
WHICH_ONES = Determiner("which", ("which",), (((), ("quels",)), ((), ("quelles",))), 1)
HOW_MANY = _determiner("how many", "", "", "combien de", 1)
WHAT_A = _determiner("what a", "quel", "quelle", "", 0)
NO = _determiner("no", "de", "de", "de", None)  # there is no cat: il n'y a pas de chat
GENERIC = Determiner("", (), THE.french, None)  # I like cats, j'aime les chats


def noun_phrase(
    noun: Noun,
    determiner: Determiner = THE,
    *adjectives: Adjective,
    plural: int = 0,
    owner: "NounPhrase | None" = None,
    superlative: bool = False,
) -> NounPhrase:
    """A noun with what surrounds it. With an owner, "the girl's cat" is "le chat de la fille"."""
    gender, name = noun.gender, noun.name
    noun_key, determiner_key = fresh_key(), fresh_key()
    english_noun: list[Token] = [(word, noun_key) for word in noun.english[plural]]
    french_middle: list[Token] = [(word, noun_key) for word in noun.french[plural]]
    facts = []
    english_adjectives: list[Token] = []
    spaced_before = False
    for adjective in reversed(adjectives):
        key = fresh_key()
        facts.append((adjective.name, name))
        words: tuple[str, ...] = (adjective.name,)
        agreed = adjective.french[gender][plural]
        if superlative:
            words = adjective.superlative
            if adjective.name == "good":
                said = [(BETTER[gender][plural], key)]
            else:
                said = [("plus", key), (agreed, key)]
            if not adjective.before:
                said.insert(0, (THE.french[gender][plural][0], key))
        else:
            if (
                adjective.before_vowel
                and not plural
                and gender == MASCULINE
                and starts_with_vowel(french_middle[0][0])
            ):
                agreed = adjective.before_vowel
            said = [(agreed, key)]
        if adjective.before:
            french_middle = said + french_middle
            spaced_before = True
        else:
            french_middle = french_middle + said
        english_adjectives = [(word, key) for word in words] + english_adjectives
    opening = determiner.french[gender][plural]
    if determiner.before_vowel and not plural and starts_with_vowel(french_middle[0][0]):
        opening = tuple(determiner.before_vowel[gender].split())
    elif determiner.drops_s and spaced_before:
        opening = ("de",)
    if owner is None:
        english: list[Token] = [(word, determiner_key) for word in determiner.english]
        french = [(word, determiner_key) for word in opening] + french_middle
    else:
        *rest, (last, last_key) = owner.english
        english = [*rest, (last + "'s", last_key)]
        owned_by = with_preposition("de", determiner_key, owner.french)
        french = [(word, determiner_key) for word in opening] + french_middle + owned_by
        facts += owner.facts
    english = english + english_adjectives + english_noun
    return NounPhrase(english, french, facts, gender, plural, ILS if plural else IL, noun)


def with_preposition(preposition: str, key: object, french: Sequence[Token]) -> list[Token]:
    """Put à or de before a French noun phrase; with its article it may make one word (au, des)."""
    first, first_key = french[0]
    contracted = CONTRACTED.get((preposition, first))
    if contracted and not (first == "le" and starts_with_vowel(french[1][0])):
        return [(contracted, (key, first_key)), *french[1:]]
    return [(preposition, key), *french]


def place(preposition: tuple[str, str], where: Phrase) -> Phrase:
    """A prepositional phrase: ("at", "à") and the market make "at the market", "au marché"."""
    key = fresh_key()
    english, french = preposition
    return Phrase(
        [(word, key) for word in english.split()] + where.english,
        with_prepositions(french, key, where.french),
        where.facts,
    )


def with_prepositions(preposition: str, key: object, french: Sequence[Token]) -> list[Token]:
    """As with_preposition, for several words of which the last may contract: près du château."""
    *first, last = preposition.split()
    return [(word, key) for word in first] + with_preposition(last, key, french)


def comma() -> Phrase:
    """A comma in both languages."""
    key = fresh_key()
    return Phrase([(",", key)], [(",", key)], [])


def fixed(english: str, french: str) -> Phrase:
    """An expression that never changes: "every day", "tous les jours"."""
    key = fresh_key()
    return Phrase(
        [(word, key) for word in _words(english)], [(word, key) for word in _words(french)], []
    )


_PRONOUNS = {  # english subject, english object: french, clitics, gender, plural, person
    "I": ("me", "je", ("me", "me"), MASCULINE, 0, JE),
    "you": ("you", "vous", ("vous", "vous"), MASCULINE, 0, VOUS),
    "he": ("him", "il", ("le", "lui"), MASCULINE, 0, IL),
    "she": ("her", "elle", ("la", "lui"), FEMININE, 0, IL),
    "we": ("us", "nous", ("nous", "nous"), MASCULINE, 1, NOUS),
    "they": ("them", "ils", ("les", "leur"), MASCULINE, 1, ILS),
}


def subject_pronoun(name: str) -> NounPhrase:
    """I, you, he, she, we or they. Nobody in sight: they are ils; I, you and we are masculine."""
    _, french, clitic, gender, plural, person = _PRONOUNS[name]
    key = fresh_key()
    return NounPhrase([(name, key)], [(french, key)], [], gender, plural, person, None, clitic)


def object_pronoun(name: str) -> NounPhrase:
    """me, you, him, her, us or them, by the name of its subject form."""
    english, _, clitic, gender, plural, person = _PRONOUNS[name]
    key = fresh_key()
    return NounPhrase(
        [(english, key)], [(clitic[0], key)], [], gender, plural, person, None, clitic
    )


def it(antecedent: NounPhrase) -> NounPhrase:
    """The object pronoun for something already named: le, la or les, by the antecedent."""
    key = fresh_key()
    direct = "les" if antecedent.plural else ("la" if antecedent.gender == FEMININE else "le")
    return NounPhrase(
        [("them" if antecedent.plural else "it", key)],
        [(direct, key)],
        [],
        antecedent.gender,
        antecedent.plural,
        antecedent.person,
        antecedent.noun,
        (direct, ""),
    )


def it_as_subject(antecedent: NounPhrase) -> NounPhrase:
    """The subject pronoun for something already named: il, elle, ils or elles."""
    key = fresh_key()
    french = ("elle" if antecedent.gender == FEMININE else "il") + "s" * antecedent.plural
    return NounPhrase(
        [("they" if antecedent.plural else "it", key)],
        [(french, key)],
        [],
        antecedent.gender,
        antecedent.plural,
        antecedent.person,
        antecedent.noun,
    )


def named(english: str, french: str, gender: int) -> NounPhrase:
    """Somebody by name."""
    key = fresh_key()
    return NounPhrase([(english, key)], [(french, key)], [], gender, 0, IL)


def both(first: NounPhrase, second: NounPhrase) -> NounPhrase:
    """Two together: plural, and feminine only if both are."""
    key = fresh_key()
    return NounPhrase(
        [*first.english, ("and", key), *second.english],
        [*first.french, ("et", key), *second.french],
        first.facts + second.facts,
        first.gender & second.gender,
        1,
        ILS,
    )
