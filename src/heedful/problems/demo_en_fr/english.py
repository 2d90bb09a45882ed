"""English spelling: plurals, verb endings, a or an, comparatives."""

from functools import cache

VOWELS = "aeiou"
# Words whose first letter misleads: "a useful book".
CONSONANT_SOUND = frozenset({"useful"})
VOWEL_SOUND = frozenset({"honest"})

SHORTENED = {  # an auxiliary that has swallowed its "not"
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "will": "won't",
    "can": "can't",
    "could": "couldn't",
}
JOINED = {"can": "cannot"}  # an auxiliary that "not" is written together with
DOUBLED = frozenset(
    {"forget", "begin", "travel", "prefer"}
)  # stress the one-syllable rule cannot see


def plural(noun: str) -> str:
    """cat, cats; box, boxes; cherry, cherries. Irregular plurals live in the noun table."""
    if noun.endswith(("s", "x", "ch", "sh")) or noun in ("hero",):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def third_person(verb: str) -> str:
    """he eats, he watches, he carries, he has."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def past(verb: str) -> str:
    """The regular past: watched, loved, carried, stopped."""
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb[:-1] + "ied"
    return _doubled(verb) + "ed"


def progressive(verb: str) -> str:
    """eating, writing, running."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return _doubled(verb) + "ing"


def _doubled(verb: str) -> str:
    ends_short = (
        len(verb) > 2
        and verb[-1] not in VOWELS + "wxy"
        and verb[-2] in VOWELS
        and verb[-3] not in VOWELS
        and sum(letter in VOWELS for letter in verb) == 1
    )
    return verb + verb[-1] if ends_short or verb in DOUBLED else verb


def comparative(adjective: str) -> str:
    """bigger, nicer, happier; the superlative is the same with -est."""
    return _graded(adjective, "er")


def superlative(adjective: str) -> str:
    """biggest, nicest, happiest."""
    return _graded(adjective, "est")


def _graded(adjective: str, ending: str) -> str:
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if adjective.endswith("y"):
        return adjective[:-1] + "i" + ending
    return _doubled(adjective) + ending


@cache
def takes_an(word: str) -> bool:
    """Is it "an" before this word?"""
    return (word[0].lower() in VOWELS and word not in CONSONANT_SOUND) or word in VOWEL_SOUND
