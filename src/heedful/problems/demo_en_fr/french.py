"""French spelling: plurals, feminines, which words elide, and how prepositions contract."""

from functools import cache

# An h that blocks elision (le héros), against the mute one (l'hôtel).
ASPIRATED = ("héros", "hibou", "haricot", "hamster", "haut", "huit")
ELIDED = {word: word[:-1] + "'" for word in ["le", "la", "je", "me", "te", "se", "ne", "de", "que"]}
CONTRACTED = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}
BEFORE_VOWEL = {"beau": "bel", "vieux": "vieil", "nouveau": "nouvel", "ce": "cet"}


@cache
def starts_with_vowel(word: str) -> bool:
    """Does the word open on a vowel sound, so that the word before it must elide?"""
    lowered = word.lower()
    if lowered[0] == "h":
        return not lowered.startswith(ASPIRATED)
    return lowered[0] in "aeiouyâàéèêëîïôœù" and lowered != "onze"


def plural(noun: str) -> str:
    """chat, chats; oiseau, oiseaux; cheval, chevaux; souris, souris."""
    if noun.endswith(("s", "x", "z")):
        return noun
    if noun.endswith(("au", "eu")):
        return noun + "x"
    if noun.endswith("al"):
        return noun[:-2] + "aux"
    return noun + "s"


def feminine(adjective: str) -> str:
    """vert, verte; heureux, heureuse; vif, vive; cher, chère. Irregulars are in the table."""
    for ending, replacement in (
        ("e", "e"),
        ("eux", "euse"),
        ("f", "ve"),
        ("er", "ère"),
        ("en", "enne"),
        ("el", "elle"),
        ("on", "onne"),
    ):
        if adjective.endswith(ending):
            return adjective.removesuffix(ending) + replacement
    return adjective + "e"


def adjective_plural(masculine: str) -> str:
    """The masculine plural: verts, heureux, nouveaux, loyaux; but bleus, unlike the noun jeux."""
    return masculine + "s" if masculine == "bleu" else plural(masculine)


def elide(words: list[str]) -> None:
    """Make each word lose its vowel where the next one opens with one: je aime, j'aime."""
    last = len(words) - 1
    for at, word in enumerate(words):
        if at < last:
            if word in ELIDED:
                if starts_with_vowel(words[at + 1]):
                    words[at] = ELIDED[word]
            elif word == "si" and words[at + 1] in ("il", "ils"):
                words[at] = "s'"
