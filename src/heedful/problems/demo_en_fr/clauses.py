"""Clauses, said in both languages at once: subject, verb, object, in a tense, perhaps denied."""

from dataclasses import dataclass
from typing import Any

from .adjectives import BETTER, Adjective, Sensation
from .conjugation import Conjugation, conjugate
from .english import JOINED, SHORTENED
from .phrases import (
    IL,
    ILS,
    JE,
    NOUS,
    VOUS,
    NounPhrase,
    Phrase,
    Token,
    fresh_key,
    with_preposition,
)
from .verbs import BE, FEEL, Modal, Verb

PRESENT, PROGRESSIVE, PAST, PAST_PROGRESSIVE, FUTURE = range(5)

TO_BE, TO_HAVE = conjugate("être"), conjugate("avoir")
REFLEXIVE = {JE: "me", IL: "se", NOUS: "nous", VOUS: "vous", ILS: "se"}
BE_PRESENT = {JE: "am", IL: "is", NOUS: "are", VOUS: "are", ILS: "are"}
BE_PAST = {JE: "was", IL: "was", NOUS: "were", VOUS: "were", ILS: "were"}


@dataclass(frozen=True, eq=False)
class Negation:
    """A way of saying no: the English words and where they go, and what completes "ne"."""

    name: str
    adverb: str | None  # before the verb, instead of "not": never
    ending: str | None  # at the end, besides "not": anymore
    french: str
    late: bool = False  # "personne" waits for the participle


NOT = Negation("not", None, None, "pas")
NEVER = Negation("never", "never", None, "jamais")
NO_MORE = Negation("anymore", None, "anymore", "plus")
NOTHING = Negation("nothing", None, "anything", "rien")
NOBODY = Negation("nobody", None, "anyone", "personne", late=True)


@dataclass(frozen=True, eq=False)
class Adverb:
    """An adverb that French puts right after the conjugated verb: mange souvent, a bien dormi."""

    english: tuple[str, ...]
    french: str
    leads: bool  # English puts it before the verb (often), or after it (well)


def is_ambiguous(verb: Verb, subject: NounPhrase, tense: int) -> bool:
    """Would English leave the tense open? "I read" and "they put" are present and past alike."""
    return verb.past == verb.base and subject.person != IL and tense in (PRESENT, PAST)


def agreed(participle: str, gender: int, plural: int) -> str:
    """A past participle in agreement: vu, vue, vus, vues; pris, prise."""
    if gender:
        participle += "e"
    return participle + "s" if plural and not participle.endswith("s") else participle


def clause(
    subject: NounPhrase,
    verb: Verb,
    tense: int = PRESENT,
    *,
    object: NounPhrase | None = None,
    negation: Negation | None = None,
    adverb: Adverb | None = None,
    modal: Modal | None = None,
    after: tuple[Phrase, ...] = (),
    inverted: bool = False,
    recipient: NounPhrase | None = None,
    without_object: NounPhrase | None = None,
    short: bool = False,
) -> Phrase:
    """One clause. `inverted` asks (English only: French says est-ce que, which the caller adds).

    `recipient` is a pronoun that gets the object: "gave him the book", "lui a donné le livre".
    `without_object` is an object that went ahead of the clause, as in "the apple that I ate": it is
    not said again, but the participle still agrees with it.
    """
    key = fresh_key()
    deny_key = fresh_key() if negation else 0
    adverb_key = fresh_key() if adverb else 0
    facts = subject.facts[:]
    english = _english(
        subject, verb, tense, negation, adverb, modal, inverted, short, key, deny_key, adverb_key
    )
    french = _french(
        subject,
        verb,
        tense,
        object,
        recipient,
        negation,
        adverb,
        modal,
        without_object,
        key,
        deny_key,
        adverb_key,
    )
    if recipient is not None:
        english += recipient.english
    if object is not None:
        facts += object.facts
        if object.noun is not None:
            facts.append((verb.name, object.noun.name))
        english += object.english
        if object.clitic is None:
            if verb.preposition:
                french += with_preposition(verb.preposition, key, object.french)
            else:
                french += object.french
    elif without_object is not None and without_object.noun is not None:
        facts.append((verb.name, without_object.noun.name))
    if adverb is not None and not adverb.leads:
        english += [(word, adverb_key) for word in adverb.english]
    if negation is not None and negation.late:
        french.append((negation.french, deny_key))
    for phrase in after:
        english += phrase.english
        french += phrase.french
        facts += phrase.facts
    if negation is not None and negation.ending:
        english.append((negation.ending, deny_key))
    return Phrase(english, french, facts)


def _english(
    subject: NounPhrase,
    verb: Verb,
    tense: int,
    negation: Negation | None,
    adverb: Adverb | None,
    modal: Modal | None,
    inverted: bool,
    short: bool,
    key: int,
    deny_key: int,
    adverb_key: int,
) -> list[Token]:
    """The English up to the object: subject, auxiliary, not, adverb, verb."""
    person = subject.person
    denied = negation is not None and negation.adverb is None
    auxiliary, main = _english_verb(verb, tense, person, modal, denied or inverted)
    if not denied and not inverted and modal is None and is_ambiguous(verb, subject, tense):
        raise ValueError(f"{verb.name!r} is the same in present and past with this subject")
    words: list[Token] = []
    if not inverted:
        words += subject.english
    if auxiliary:
        if denied and short and auxiliary in SHORTENED:
            words.append((SHORTENED[auxiliary], (key, deny_key)))
        elif denied and not inverted and auxiliary in JOINED:
            words.append((JOINED[auxiliary], (key, deny_key)))
        elif denied and not inverted:
            words += [(auxiliary, key), ("not", deny_key)]
        else:
            words.append((auxiliary, key))
    if inverted:
        words += subject.english
        if denied and not (short and auxiliary in SHORTENED):
            words.append(("not", deny_key))
    if negation is not None and negation.adverb:
        words.append((negation.adverb, deny_key))
    if adverb is not None and adverb.leads:
        words += [(word, adverb_key) for word in adverb.english]
    words += [(word, key) for word in main]
    return words


def _english_verb(
    verb: Verb, tense: int, person: int, modal: Modal | None, needs: bool
) -> tuple[str, tuple[str, ...]]:
    """The auxiliary, if any, and the words of the verb."""
    if modal is not None:
        infinitive = (verb.base, *verb.particle)
        if modal.auxiliary:
            return modal.auxiliary[tense == PAST], infinitive
        if modal.progressive:
            return BE_PRESENT[person], ("going", "to", *infinitive)
        auxiliary, main = _english_verb(modal.verb, tense, person, None, needs)
        return auxiliary, (*main, "to", *infinitive)
    if tense == FUTURE:
        return "will", (verb.base, *verb.particle)
    if verb is BE or verb is FEEL:
        return (BE_PAST if tense == PAST else BE_PRESENT)[person], ()
    if tense == PROGRESSIVE:
        return BE_PRESENT[person], (verb.progressive, *verb.particle)
    if tense == PAST_PROGRESSIVE:
        return BE_PAST[person], (verb.progressive, *verb.particle)
    if tense == PAST:
        return ("did", (verb.base, *verb.particle)) if needs else ("", (verb.past, *verb.particle))
    if needs:
        return "does" if person == IL else "do", (verb.base, *verb.particle)
    return "", (verb.third if person == IL else verb.base, *verb.particle)


def _french(
    subject: NounPhrase,
    verb: Verb,
    tense: int,
    object: NounPhrase | None,
    recipient: NounPhrase | None,
    negation: Negation | None,
    adverb: Adverb | None,
    modal: Modal | None,
    moved: NounPhrase | None,
    key: int,
    deny_key: int,
    adverb_key: int,
) -> list[Token]:
    """The French up to the object: subject, ne, clitics, verb, pas, participle or infinitive."""
    person = subject.person
    words = list(subject.french)
    if negation:
        words.append(("ne", deny_key))
    clitics: list[Token] = []
    if verb.reflexive:
        clitics.append((REFLEXIVE[person], key))
    if object is not None and object.clitic is not None:
        direct, indirect = object.clitic
        clitics.append((indirect if verb.preposition else direct, object.french[0][1]))
    if recipient is not None and recipient.clitic is not None:
        clitics.append((recipient.clitic[1], recipient.french[0][1]))
    middle: list[Token] = []
    if negation is not None and not negation.late:
        middle.append((negation.french, deny_key))
    if adverb is not None:
        middle.append((adverb.french, adverb_key))
    leader = modal.french if modal is not None else verb.french
    if modal is None:
        words += clitics
    compound = tense == PAST and not (modal.state if modal is not None else verb.state)
    if not compound:
        words.append((_finite(leader, tense, person), key))
        words += middle
    else:
        with_be = modal is None and verb.with_be
        words.append(((TO_BE if with_be else TO_HAVE).present[person], key))
        words += middle
        participle = leader.participle
        if with_be:
            participle = agreed(participle, subject.gender, subject.plural)
        elif modal is None:
            if object is not None and object.clitic is not None and not verb.preposition:
                participle = agreed(participle, object.gender, object.plural)
            elif moved is not None:
                participle = agreed(participle, moved.gender, moved.plural)
        words.append((participle, key))
    if modal is not None:
        if modal.link:
            words.append((modal.link, key))
        words += clitics
        words.append((verb.french.infinitive, key))
    return words


def _finite(conjugation: Conjugation, tense: int, person: int) -> str:
    if tense in (PRESENT, PROGRESSIVE):
        return conjugation.present[person]
    if tense == FUTURE:
        return conjugation.future[person]
    return conjugation.imperfect[person]


def says(quality: Adjective | Sensation, of: NounPhrase, degree: str = "") -> Phrase:
    """A quality as a predicate, agreeing with what it is said of: "too tired", "trop fatiguée"."""
    key = fresh_key()
    english, french = [], []
    if degree:
        degree_key = fresh_key()
        english.append((degree, degree_key))
        french.append((DEGREES[degree], degree_key))
    english.append((quality.name, key))
    if isinstance(quality, Sensation):
        french += [(word, key) for word in quality.french]
    else:
        french.append((quality.french[of.gender][of.plural], key))
    return Phrase(english, french, [(quality.name, of.noun.name)] if of.noun else [])


DEGREES = {"very": "très", "too": "trop"}


def is_like(
    subject: NounPhrase,
    quality: Adjective | Sensation,
    tense: int = PRESENT,
    degree: str = "",
    **more: Any,
) -> Phrase:
    """Subject and quality: "the cow was hungry", "la vache avait faim"."""
    verb = FEEL if isinstance(quality, Sensation) else BE
    rest = more.pop("after", ())
    return clause(subject, verb, tense, after=(says(quality, subject, degree), *rest), **more)


COMPARED = {"more": "plus", "less": "moins", "as": "aussi"}


def compares(how: str, quality: Adjective, subject: NounPhrase, other: NounPhrase) -> Phrase:
    """The predicate of a comparison: "bigger than the dog", "plus grand que le chien"."""
    key, than_key = fresh_key(), fresh_key()
    agreed_form = quality.french[subject.gender][subject.plural]
    if how == "more":
        english = [(word, key) for word in quality.comparative]
    else:
        english = [(how, key), (quality.name, key)]
    if how == "more" and quality.name == "good":
        french = [(BETTER[subject.gender][subject.plural], key)]
    else:
        french = [(COMPARED[how], key), (agreed_form, key)]
    facts = [(quality.name, p.noun.name) for p in (subject, other) if p.noun]
    return Phrase(
        english + [("as" if how == "as" else "than", than_key)] + other.english,
        french + [("que", than_key)] + other.french,
        facts + other.facts,
    )
