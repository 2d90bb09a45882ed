"""What goes with what: which verbs, nouns and qualities make a sensible scene together."""

from . import verbs as vb
from .actors import PERSONS
from .adjectives import ADJECTIVES, BESIDE, SAID_OF, SENSATIONS
from .clauses import (
    FUTURE,
    PAST,
    PAST_PROGRESSIVE,
    PRESENT,
    PROGRESSIVE,
)
from .nouns import NOUNS, of_kinds


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


TENSES = (PRESENT,) * 9 + (PROGRESSIVE,) * 4 + (PAST,) * 11 + (FUTURE,) * 5 + (PAST_PROGRESSIVE,)
MODALS = tuple(vb.MODALS.values())
# Verbs done in a place one can name, and the places for it.
DONE_IN_ROOM = _names("eat drink read prepare write find lose clean hide forget sing")
PLACES_IN = of_kinds("room,garden,park,forest,village,castle,museum,library,restaurant,shop")
PLACES_AT = of_kinds("school,restaurant,market,museum,theatre,cinema,library,zoo,hotel,station")
GOALS = of_kinds("public,farm,castle,village")
WILD_GOALS = of_kinds("farm,castle,village,park,zoo,market")
LANDMARKS = of_kinds("building,park,river,lake,bridge,forest")
LIVEABLE = of_kinds("house,castle,village,town,hotel,forest")  # one lives on a farm
SURFACES = of_kinds("top,seat")
CONTAINERS = of_kinds("container")
UPRIGHT = tuple(n for n in SURFACES if n.name != "carpet")  # something can be behind it
BATHING = of_kinds("river,lake")
PUT_DOWN = of_kinds("thing,read,wear,fruit,vegetable")
# Verbs that take him, her, me, us and you.
ABOUT_PEOPLE = vb.transitives(
    "see,hear,meet,help,call,invite,thank,wait for,follow,know,love,like,hate,admire,"
    "kiss,look for,forget,watch,listen to,talk to,answer,protect,frighten"
)
ANYTHING = vb.transitives("eat,drink,buy,see,hear,understand,find,want,forget")
ANYONE = vb.transitives("see,hear,know,meet,help,invite,call,like")
ASKABLE = vb.transitives(
    "eat,drink,buy,read,write,see,watch,hear,find,want,prefer,prepare,sell,choose"
)
# What one does to a thing and may then do to it again.
CHAINS = tuple(
    (vb.DO[first], vb.DO[second.replace("_", " ")], tuple(n for n in of_kinds(kinds)))
    for first, second, kinds in (
        row.split()
        for row in """
        buy eat food
        prepare eat dish
        wash eat fruit,vegetable
        buy drink drink
        buy read read
        find read letter,message,book,newspaper
        find sell thing
        lose look_for thing,wear
        take hide thing,read
        wash wear wear
        buy wear wear
        choose buy thing,wear,book
        open close opening
        break repair machine,toy,chair
        buy sell vehicle,furniture,thing
        find feed animal
        see catch animal
        feed wash pet
        see buy thing,wear
        find carry thing
        write hide letter,poem,message
        steal sell thing,wear
        taste buy food
        follow lose animal
        """.strip().splitlines()
    )
)
KINDNESSES = tuple(
    (vb.DO[a], vb.DO[b])
    for a, b in (
        ("see", "help"),
        ("meet", "invite"),
        ("see", "follow"),
        ("help", "call"),
        ("call", "thank"),
        ("meet", "kiss"),
        ("see", "call"),
        ("know", "like"),
    )
)
REASONS = tuple(  # an act and the state that explains it
    (vb.ACT[act], quality)
    for act, states in {
        "eat": "hungry",
        "sleep": "tired sleepy",
        "cry": "sad afraid",
        "laugh": "happy",
        "sing": "happy",
        "dance": "happy",
        "rest": "tired sick",
        "leave": "sad afraid tired",
        "run": "afraid cold",
        "stop": "tired hot afraid",
        "shout": "afraid",
        "stay": "sick tired",
        "smile": "happy proud",
        "fall asleep": "tired",
        "play": "happy",
        "work": "poor",
        "come back": "hungry thirsty cold",
        "wake up": "cold hot thirsty",
    }.items()
    for quality in (SENSATIONS[s] if s in SENSATIONS else ADJECTIVES[s] for s in states.split())
)
ANIMAL_REASONS = tuple(pair for pair in REASONS if pair[0].animals and pair[1].name != "poor")
FEELINGS = tuple(SENSATIONS.values())
ANIMAL_FEELINGS = tuple(s for s in FEELINGS if s.name not in ("right", "wrong", "ashamed"))
SAID_OF_PEOPLE = tuple(a for a in ADJECTIVES.values() if a in SAID_OF[NOUNS["woman"]])
ALL_NOUNS = tuple(n for n in NOUNS.values() if SAID_OF[n])
THINGS = tuple(n for n in ALL_NOUNS if "person" not in n.kinds)
COMPARABLE = {
    kind: of_kinds(kind)
    for kind in (
        "person",
        "animal",
        "fruit",
        "dish",
        "wear",
        "read",
        "vehicle",
        "furniture",
        "building",
        "height",
        "show",
        "drink",
        "way",
        "waters",
        "thing",
    )
}
COMPARED_KINDS = ("person",) * 5 + ("animal",) * 4 + tuple(COMPARABLE)
GRADED = {n: tuple(a for a in SAID_OF[n] if a.graded) for n in ALL_NOUNS}
GENERIC_LIKES = tuple(vb.DO[n] for n in ("like", "like", "love", "hate", "prefer"))
LIKED = of_kinds("animal,food,drink,fruit,sung,show,plant,read")
WEATHER = (
    (
        {
            PRESENT: ("it is raining", "il pleut"),
            PAST: ("it was raining", "il pleuvait"),
            FUTURE: ("it will rain", "il pleuvra"),
        }
    ),
    (
        {
            PRESENT: ("it is snowing", "il neige"),
            PAST: ("it was snowing", "il neigeait"),
            FUTURE: ("it will snow", "il neigera"),
        }
    ),
    (
        {
            PRESENT: ("it is cold", "il fait froid"),
            PAST: ("it was cold", "il faisait froid"),
            FUTURE: ("it will be cold", "il fera froid"),
        }
    ),
    (
        {
            PRESENT: ("it is hot", "il fait chaud"),
            PAST: ("it was hot", "il faisait chaud"),
            FUTURE: ("it will be hot", "il fera chaud"),
        }
    ),
    (
        {
            PRESENT: ("the weather is nice", "il fait beau"),
            PAST: ("the weather was nice", "il faisait beau"),
            FUTURE: ("the weather will be nice", "il fera beau"),
        }
    ),
)
# Qualities that come and go, so that one may always, never or no longer be so.
PASSING = _names(
    "happy sad tired sick calm nervous worried polite funny brave lazy jealous proud patient "
    "alone dirty clean open closed empty full wet hot cold noisy quiet hungry thirsty afraid "
    "sleepy right wrong dangerous elegant gentle nice ready"
)
LASTING = _names("French English Italian Spanish young")  # nobody will be French: present only
# What a thing is one of at most: the red car is not blue, nor the bad apple delicious.
RIVALS = {
    name: rivals
    for rivals in map(
        _names,
        (
            "good bad excellent delicious rotten",
            "beautiful pretty ugly magnificent",
            "green red blue white black yellow brown grey pink purple",
            "French English Italian Spanish",
            "small big",
            "young old",
            "interesting boring",
            "difficult easy",
            "rich poor",
            "strong weak",
            "happy sad",
            "fast slow",
            "hot cold",
            "heavy light",
            "clean dirty",
            "wet dry",
            "empty full",
            "open closed",
            "noisy quiet",
            "wide narrow",
        ),
    )
    for name in rivals
}
ATTITUDES = frozenset(vb.transitives("like,love,hate,prefer,know"))
HE_OR_SHE = ("he", "she")
OBJECTS = ("I", "I", "you", "you", "he", "he", "she", "she", "we")
OTHERS_THAN = {  # nobody does to himself: I see us, you call you
    "I": ("you", "he", "she"),
    "we": ("you", "he", "she"),
    "you": ("I", "he", "she", "we"),
}
OWNERS_OF_DEEDS = tuple(n for n in PERSONS if "family" not in n.kinds)
DEEDS = vb.transitives(
    "eat,buy,read,write,find,lose,choose,wear,sell,break,repair,take,prepare,watch,"
    "paint,borrow,steal,wash,want,see,hide"
)
OUTER = vb.transitives("like,want,buy,read,hate,look for,eat,find,take,sell,prefer,wear")
CONDITIONS = tuple(v for v in vb.TRANSITIVES if v.by_persons and not v.state and not v.preposition)
# Verbs said of what was going on: enough for the imparfait, few enough to see each form often.
ONGOING = frozenset(
    vb.transitives("eat,read,write,watch,look for,wait for,listen to,clean,prepare,carry,wear")
    + vb.intransitives("sleep,work,dance,sing,play,read,swim,eat,rest,walk,run,cry")
)
BACKGROUND = vb.intransitives("sleep,work,dance,sing,play,read,swim,eat,rest")
SUDDEN = vb.intransitives("arrive,leave,come back,shout,fall,go out,wake up,laugh")
STAYING = (vb.LIVE, vb.LIVE, vb.GO, vb.GO, *vb.intransitives("work,sleep,play,eat,swim"))
ERRANDS = tuple(
    (NOUNS[goal], vb.DO[verb], of_kinds(kinds))
    for goal, verb, kinds in (
        row.split()
        for row in """
        market buy fruit,vegetable,fish,cheese,egg
        bakery buy bread,cake,pie,biscuit
        shop buy wear,thing
        library read book,newspaper,novel
        restaurant eat dish
        station wait_for train
        zoo see animal
        cinema watch film
        museum see painting,statue
        theatre see actor,actress
        """.replace("wait_for", "take")
        .strip()
        .splitlines()
    )
)
NEEDED = of_kinds("thing,machine,doctor,nurse,lawyer,coat,scarf,glove,table,chair,bed")
ALIVE = of_kinds("animal,role,boy,girl,man,woman,child")
COMMANDS = vb.transitives(
    "open,close,read,listen to,look for,take,choose,wash,clean,follow,help,call,buy,"
    "watch,repair,hide,answer,prepare,explain,cross,protect,thank,drink,eat"
)
STRIKES = _names(
    "strange beautiful big small pretty ugly magnificent interesting boring expensive good "
    "bad excellent funny intelligent brave lazy cruel comfortable dangerous delicious "
    "difficult original heavy elegant old noisy"
)
STRIKING = {n: tuple(a for a in BESIDE[n] if a.name in STRIKES) for n in NOUNS.values()}
ADMIRABLE = tuple(
    n
    for n in of_kinds("animal,thing,wear,place,vehicle,furniture,thought,show,sung")
    if STRIKING[n]
)
POINTED_AT = tuple(
    n for n in of_kinds("animal,thing,wear,read,vehicle,furniture,home,ours") if BESIDE[n]
)
BEST = {n: tuple(a for a in BESIDE[n] if a.graded) for n in POINTED_AT}
CONTESTS = {  # where a thing may be the biggest of all
    n: of_kinds(
        "town,village"
        + (",zoo" if "animal" in n.kinds else "")
        + (",shop,museum,market" if n.kinds & {"thing", "wear"} else "")
    )
    for n in POINTED_AT
}
FINDABLE = of_kinds("person,animal,thing,wear,read,building,vehicle,room")
COUNTED = vb.transitives("eat,buy,read,see,have,want,find,sell,write,choose")
