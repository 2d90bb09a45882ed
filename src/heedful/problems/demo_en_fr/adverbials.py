"""When, where, how: the expressions that come after the verb and its object."""

from .clauses import FUTURE, PAST, PAST_PROGRESSIVE, PRESENT, PROGRESSIVE, Adverb

DAYS = (
    ("Monday", "lundi"),
    ("Tuesday", "mardi"),
    ("Wednesday", "mercredi"),
    ("Thursday", "jeudi"),
    ("Friday", "vendredi"),
    ("Saturday", "samedi"),
    ("Sunday", "dimanche"),
)
_ON_DAY = tuple((f"on {english}", french) for english, french in DAYS)

# A tense takes the times that go with it, so that English never leaves the French tense open.
WHEN = {
    PRESENT: (
        ("every day", "tous les jours"),
        ("every morning", "tous les matins"),
        ("every evening", "tous les soirs"),
        ("in the morning", "le matin"),
        ("in the evening", "le soir"),
        ("in summer", "en été"),
        ("in winter", "en hiver"),
        *((f"on {english}s", f"le {french}") for english, french in DAYS),
    ),
    PROGRESSIVE: (("now", "maintenant"), ("today", "aujourd'hui"), ("this morning", "ce matin")),
    PAST: (
        ("yesterday", "hier"),
        ("yesterday", "hier"),
        ("last week", "la semaine dernière"),
        ("last year", "l'année dernière"),
        ("last night", "hier soir"),
        ("this morning", "ce matin"),
        ("two days ago", "il y a deux jours"),
        ("a week ago", "il y a une semaine"),
        *_ON_DAY,
    ),
    PAST_PROGRESSIVE: (("yesterday", "hier"), ("this morning", "ce matin")),
    FUTURE: (
        ("tomorrow", "demain"),
        ("tomorrow", "demain"),
        ("next week", "la semaine prochaine"),
        ("next year", "l'année prochaine"),
        ("tonight", "ce soir"),
        ("tomorrow morning", "demain matin"),
        ("soon", "bientôt"),
        *_ON_DAY,
    ),
}

OFTEN = tuple(
    Adverb((english,), french, leads=True)
    for english, french in (("often", "souvent"), ("always", "toujours"), ("sometimes", "parfois"))
)
WELL = Adverb(("well",), "bien", leads=False)
BADLY = Adverb(("badly",), "mal", leads=False)
A_LOT = Adverb(("a", "lot"), "beaucoup", leads=False)
HOW_WELL = {  # which acts are done well, badly or a lot
    "sleep": (WELL, BADLY, A_LOT),
    "work": (WELL, A_LOT),
    "sing": (WELL, BADLY, A_LOT),
    "dance": (WELL, BADLY, A_LOT),
    "swim": (WELL, BADLY, A_LOT),
    "laugh": (A_LOT,),
    "cry": (A_LOT,),
    "travel": (A_LOT,),
    "walk": (A_LOT,),
    "eat": (WELL, BADLY, A_LOT),
    "read": (WELL, A_LOT),
    "rest": (),
    "play": (WELL, A_LOT),
}
MANNERS = {
    "walk": (("slowly", "lentement"), ("quickly", "vite")),
    "run": (("slowly", "lentement"), ("quickly", "vite")),
    "swim": (("slowly", "lentement"), ("quickly", "vite")),
    "eat": (("slowly", "lentement"), ("quickly", "vite")),
    "work": (("slowly", "lentement"), ("quickly", "vite"), ("patiently", "patiemment")),
    "laugh": (("loudly", "fort"),),
    "shout": (("loudly", "fort"),),
    "sing": (("loudly", "fort"), ("happily", "joyeusement"), ("softly", "doucement")),
    "dance": (("happily", "joyeusement"), ("slowly", "lentement")),
    "play": (("happily", "joyeusement"), ("quietly", "tranquillement")),
    "sleep": (("quietly", "tranquillement"),),
    "read": (("quietly", "tranquillement"), ("slowly", "lentement")),
    "smile": (("softly", "doucement"),),
    "leave": (("quickly", "vite"),),
    "get up": (("late", "tard"), ("early", "tôt")),
    "wake up": (("late", "tard"), ("early", "tôt")),
    "go to bed": (("late", "tard"), ("early", "tôt")),
}
IN_PRIVATE = frozenset({"sleep", "wake up", "get up", "go to bed", "fall asleep"})  # alone
TOGETHER = ("together", "ensemble")
BY_ROAD = (("by car", "en voiture"), ("by bus", "en autobus"))
BY_NEAR = (*BY_ROAD, ("on foot", "à pied"))  # to the park
BY_FAR = (*BY_ROAD, ("by train", "en train"), ("by plane", "en avion"), ("by boat", "en bateau"))
IN, AT, TO, ON, UNDER = ("in", "dans"), ("at", "à"), ("to", "à"), ("on", "sur"), ("under", "sous")
NEAR, BEHIND, IN_FRONT = ("near", "près de"), ("behind", "derrière"), ("in front of", "devant")
WITH, FOR, WITHOUT = ("with", "avec"), ("for", "pour"), ("without", "sans")
