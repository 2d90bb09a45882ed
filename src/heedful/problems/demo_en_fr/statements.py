"""What the demo language states, orders and exclaims: one method for each construction."""

from typing import Any

from . import adverbials as av
from . import phrases as ph
from . import verbs as vb
from .actors import HIM_OR_HER
from .adjectives import SAID_OF
from .clauses import (
    FUTURE,
    NOBODY,
    NOT,
    NOTHING,
    PAST,
    PAST_PROGRESSIVE,
    PRESENT,
    PROGRESSIVE,
    clause,
    compares,
    is_like,
)
from .nouns import NOUNS, Noun
from .phrases import THE, NounPhrase, Phrase, comma, fixed, it, noun_phrase, place, subject_pronoun
from .pieces import Pieces
from .scenes import (
    ABOUT_PEOPLE,
    ADMIRABLE,
    ANIMAL_REASONS,
    ANYONE,
    ANYTHING,
    BACKGROUND,
    BEST,
    CHAINS,
    COMMANDS,
    COMPARABLE,
    COMPARED_KINDS,
    CONDITIONS,
    CONTESTS,
    DEEDS,
    ERRANDS,
    GENERIC_LIKES,
    GOALS,
    GRADED,
    HE_OR_SHE,
    KINDNESSES,
    LANDMARKS,
    LIKED,
    LIVEABLE,
    NEEDED,
    OBJECTS,
    OTHERS_THAN,
    OUTER,
    OWNERS_OF_DEEDS,
    POINTED_AT,
    PUT_DOWN,
    REASONS,
    STRIKING,
    SUDDEN,
    THINGS,
    WEATHER,
    WILD_GOALS,
)

Sentence = tuple[Phrase, str]  # the words, and the mark that ends them


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


class Statements:
    """Draws sentences that do not ask."""

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
        if dice.chance(0.14):
            options["negation"] = self.pieces.negation(verb, tense)
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
        if human and dice.chance(0.4) and to == "to":
            where = self.pieces.far_away(to)
        else:
            where = place((to, "à"), self.actors.the(dice.pick(GOALS if human else WILD_GOALS)))
        after = (where,)
        if not options and human and dice.chance(0.22) and verb is vb.GO:
            after += (fixed(*dice.pick(av.BY)),)
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
        if dice.chance(0.15):
            options["negation"] = self.pieces.negation(verb, tense)
            options["short"] = dice.chance(0.5)
        thing = self.actors.something(dice.pick(verb.objects), denied="negation" in options)
        if dice.chance(0.5):
            name = dice.pick(OTHERS_THAN.get(subject.english[0][0], OBJECTS))
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
        if dice.chance(0.2):
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
        options: dict[str, Any] = {}
        if self.dice.chance(0.25):
            options = {"negation": NOT, "short": self.dice.chance(0.5)}
        verb = self.dice.pick(GENERIC_LIKES)
        subject = self.actors.person()
        tense = self.dice.pick((PRESENT, PRESENT, PRESENT, PAST))
        return clause(subject, verb, tense, object=kinds, **options), "."

    def finds_nothing(self) -> Sentence:
        """He did not see anything. I do not know anyone."""
        dice = self.dice
        negation, verbs = dice.pick(((NOTHING, ANYTHING), (NOBODY, ANYONE)))
        verb = dice.pick(verbs)
        subject = self.actors.person()
        tense = self.pieces.tense(verb, subject)
        options: dict[str, Any] = {}
        if dice.chance(0.15):
            options["modal"], tense = vb.MODALS["want"], PRESENT
        return clause(
            subject, verb, tense, negation=negation, short=dice.chance(0.5), **options
        ), "."

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

    def _what_was_done(self, verb: vb.Verb, noun: Noun) -> NounPhrase:
        """A thing with a "that" clause of which it is the object."""
        dice = self.dice
        head = noun_phrase(noun, THE, plural=int(not noun.mass and dice.chance(0.35)))
        subject = self.actors.person()
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
        head = self._what_was_done(verb, dice.pick(shared))
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
        one, other = self.actors.person(), self.actors.person()
        if roll < 0.45:
            first, second = dice.pick(vb.INTRANSITIVES), dice.pick(vb.INTRANSITIVES)
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
