"""Sentences whose "it" or "they" French must resolve by meaning, in twins that differ in a word.

"The cow ate the hay because it was hungry" is elle; "because it was delicious" is il. The two
candidates always differ in gender, so the pronoun tells which one was meant. After Winograd,
"Understanding Natural Language" (1972), and Levesque, Davis and Morgenstern, "The Winograd Schema
Challenge" (KR 2012).
"""

from dataclasses import dataclass

from .actors import suiting
from .adjectives import ADJECTIVES, SAID_OF, SENSATIONS, Adjective, Sensation
from .adverbials import IN, ON
from .clauses import NOT, PAST, PRESENT, PROGRESSIVE, clause, is_like
from .dice import Dice
from .nouns import Noun, of_kinds
from .phrases import (
    HER,
    HIS,
    MY,
    OUR,
    THAT,
    THE,
    THESE,
    THIS,
    THOSE,
    YOUR,
    Determiner,
    Phrase,
    fixed,
    it_as_subject,
    noun_phrase,
    place,
)
from .verbs import ACT, DO, ENTER, FEEL, FIT, Verb

Quality = Adjective | Sensation


@dataclass(frozen=True, eq=False)
class Frame:
    """A scene with two actors, and the qualities that explain it: some the first's, some the
    second's."""

    verb: Verb
    through: tuple[str, str] | None  # the preposition before the second actor, if any
    denied: bool
    degree: str  # "too" wide, or nothing
    plural_only: bool  # people would be he or she if they were one
    casts: tuple["Cast", ...]


@dataclass(frozen=True, eq=False)
class Cast:
    """Two nouns of different gender that fill a frame, and what may be said of each there."""

    first: Noun
    second: Noun
    of_first: tuple[Quality, ...]
    of_second: tuple[Quality, ...]


def _quality(name: str) -> Quality:
    return SENSATIONS[name] if name in SENSATIONS else ADJECTIVES[name]


def _fitting(noun: Noun, names: list[str]) -> tuple[Quality, ...]:
    qualities = map(_quality, names)
    return tuple(q for q in qualities if isinstance(q, Sensation) or q in SAID_OF[noun])


def _frame(
    firsts: str,
    verb: Verb,
    seconds: str,
    of_first: str,
    of_second: str,
    *,
    through: tuple[str, str] | None = None,
    denied: bool = False,
    degree: str = "",
    plural_only: bool = False,
) -> Frame:
    casts = []
    for first in of_kinds(firsts):
        for second in of_kinds(seconds):
            if first.gender == second.gender or (plural_only and second.mass):
                continue
            mine = _fitting(first, of_first.split())
            yours = _fitting(second, of_second.split())
            if mine and yours:
                casts.append(Cast(first, second, mine, yours))
    return Frame(verb, through, denied, degree, plural_only, tuple(casts))


AFRAID_OF = ("afraid of", "peur de")
CAUTIOUS = "shy nervous afraid"
FRAMES = (  # repeated where a frame has more to teach
    _frame("grazer", DO["eat"], "fodder", "hungry greedy", "delicious fresh"),
    _frame("grazer", DO["eat"], "fodder", "sick", "rotten wet", denied=True),
    _frame("animal", DO["eat"], "fruit,vegetable", "hungry greedy", "delicious fresh sweet ripe"),
    _frame("animal", DO["eat"], "food", "hungry", "delicious"),
    _frame("animal", DO["eat"], "food", "sick", "rotten", denied=True),
    _frame("animal", DO["drink"], "water,milk", "thirsty", "delicious clean fresh"),
    _frame("animal", DO["drink"], "water,milk", "sick", "dirty bitter", denied=True),
    _frame(
        "animal",
        DO["cross"],
        "street,road,river,lake",
        "tired weak slow",
        "wide deep dangerous",
        denied=True,
        degree="too",
    ),
    _frame(
        "animal",
        DO["cross"],
        "street,road,river,lake",
        "tired weak slow",
        "wide deep dangerous",
        denied=True,
        degree="too",
    ),
    _frame(
        "animal",
        DO["cross"],
        "bridge,lake",
        "tired weak slow",
        "long deep dangerous",
        denied=True,
        degree="too",
    ),
    _frame(
        "car,truck,bus",
        ENTER,
        "street,station,factory,farm,garden,castle,park",
        "big",
        "narrow small",
        denied=True,
        degree="too",
    ),
    _frame(
        "animal",
        DO["climb"],
        "mountain,hill,wall,tower",
        "tired weak lazy fat",
        "high steep",
        denied=True,
        degree="too",
    ),
    _frame(
        "thing,wear,instrument,read",
        FIT,
        "container",
        "big",
        "small",
        through=IN,
        denied=True,
        degree="too",
    ),
    _frame(
        "thing,wear,instrument,read",
        FIT,
        "container",
        "big",
        "small",
        through=IN,
        denied=True,
        degree="too",
    ),
    _frame(
        "large",
        DO["carry"],
        "container,furniture,ladder,statue,painting,computer,mirror",
        "weak tired lazy",
        "heavy",
        denied=True,
        degree="too",
    ),
    _frame("animal", DO["catch"], "animal", "slow tired lazy", "fast", denied=True, degree="too"),
    _frame("animal", FEEL, "animal", "shy weak nervous", "dangerous cruel wild", through=AFRAID_OF),
    _frame("animal", ACT["sleep"], "seat", "tired sleepy", "comfortable", through=ON),
    _frame(
        "large,pet,monkey,fox,duck,hen,seagull", DO["break"], "fragile", "nervous lively", "fragile"
    ),
    _frame(
        "animal",
        ENTER,
        "building,room,garden,forest",
        CAUTIOUS,
        "dark noisy",
        denied=True,
        degree="too",
    ),
    _frame(
        "role,boy,girl,man,woman",
        DO["buy"],
        "thing,wear,furniture,vehicle",
        "poor",
        "expensive",
        denied=True,
        degree="too",
        plural_only=True,
    ),
    _frame(
        "role,boy,girl,man,woman",
        DO["buy"],
        "thing,wear,furniture",
        "rich",
        "pretty useful light",
        plural_only=True,
    ),
    _frame(
        "role,boy,girl,child",
        DO["read"],
        "read",
        "tired lazy",
        "boring difficult long",
        denied=True,
        degree="too",
        plural_only=True,
    ),
    _frame(
        "role,boy,girl,child",
        DO["understand"],
        "thought",
        "tired young",
        "difficult",
        denied=True,
        degree="too",
        plural_only=True,
    ),
    _frame(
        "role,boy,girl,lady,prince,princess",
        DO["wear"],
        "wear",
        "proud shy",
        "dirty ugly expensive",
        denied=True,
        degree="too",
        plural_only=True,
    ),
    _frame(
        "role,boy,girl,man,woman",
        DO["visit"],
        "public",
        "sick tired",
        "closed",
        denied=True,
        plural_only=True,
    ),
    _frame("role,boy,girl,child", DO["eat"], "food", "hungry", "delicious", plural_only=True),
)

ONE: tuple[Determiner, ...] = (THE,) * 12 + (THIS, THAT, MY, YOUR, HIS, HER, OUR)
MORE: tuple[Determiner, ...] = (THE,) * 12 + (THESE, THOSE, MY, YOUR, HIS, HER, OUR)


@dataclass(frozen=True, eq=False)
class Twins:
    """One scene with two endings; which actor "it" is depends on the ending."""

    frame: Frame
    cast: Cast
    plural: int
    past: bool
    short: bool
    determiners: tuple[Determiner, Determiner]
    qualities: tuple[Quality, Quality]

    def say(self, which: int) -> Phrase:
        """The sentence in which "it" is the first actor (0) or the second (1)."""
        frame, cast = self.frame, self.cast
        first = noun_phrase(cast.first, self.determiners[0], plural=self.plural)
        second = noun_phrase(cast.second, self.determiners[1], plural=self.plural)
        tense = PAST if self.past else PRESENT
        happening = tense
        if not self.past and not frame.denied and frame.verb.progressive:
            happening = PROGRESSIVE
        negation = NOT if frame.denied else None
        if frame.through:
            scene = clause(
                first,
                frame.verb,
                happening,
                negation=negation,
                short=self.short,
                after=(place(frame.through, second),),
            )
        else:
            scene = clause(
                first, frame.verb, happening, object=second, negation=negation, short=self.short
            )
        it = it_as_subject((first, second)[which])
        reason = is_like(it, self.qualities[which], tense, frame.degree)
        return scene + fixed("because", "parce que") + reason


def _opening(dice: Dice, deck: tuple[Determiner, ...], noun: Noun) -> Determiner:
    return dice.pick(suiting(noun, deck))


def draw(dice: Dice, stage: tuple[tuple[Frame, tuple[Cast, ...]], ...]) -> Twins:
    """Any twins of the given frames and casts."""
    frame, casts = dice.pick(stage)
    cast = dice.pick(casts)
    plural = int(frame.plural_only or (not cast.second.mass and dice.chance(0.35)))
    deck = MORE if plural else ONE
    return Twins(
        frame,
        cast,
        plural,
        dice.chance(0.7),
        dice.chance(0.5),
        (_opening(dice, deck, cast.first), _opening(dice, deck, cast.second)),
        (dice.pick(cast.of_first), dice.pick(cast.of_second)),
    )
