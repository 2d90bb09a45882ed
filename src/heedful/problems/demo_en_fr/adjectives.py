"""What things are like: adjectives in both languages, their place, and what they suit."""

from dataclasses import dataclass

from .english import comparative, superlative
from .french import BEFORE_VOWEL, adjective_plural, feminine
from .nouns import NOUNS, Noun


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective: four French forms, the one before a vowel, and on which side it stands."""

    name: str
    french: tuple[tuple[str, str], tuple[str, str]]  # [gender][plural]
    before_vowel: str | None  # bel, vieil, nouvel
    before: bool  # petit chat, but chat vert
    graded: bool  # can be more so, and very so
    comparative: tuple[str, ...]  # ("bigger",) or ("more", "curious")
    superlative: tuple[str, ...]
    nouns: tuple[Noun, ...]
    attributive: bool
    predicative: bool


# english  french[/feminine]  flags  kinds of noun.
# Flags: B stands before its noun in French; e compares with -er and -est; m compares with more and
# most; a only beside its noun; p only after a verb; i invariable. Neither e nor m: no degrees.
TABLE = """
small          petit             B,e  person,animal,thing,furniture,vehicle,place,wear
big            grand             B,e  animal,thing,furniture,vehicle,place,wear,height,waters
tall           grand             B,e,p person
fat            gros/grosse       B,e  animal,person
beautiful      beau/belle        B,m  animal,thing,furniture,vehicle,place,wear,sung,height,waters
pretty         joli              B,e  thing,wear,animal,building,room,outdoors,sung
old            vieux/vieille     B,e  person,animal,thing,furniture,vehicle,place,wear,book
new            nouveau/nouvelle  B,a  thing,furniture,vehicle,wear,read,building,role,show
young          jeune             B,e  person,animal
good           bon/bonne         B,e  food,drink,read,show,role,thought
bad            mauvais           B    food,drink,read,show,thought
long           long/longue       B,e  read,way,waters,dress,skirt,coat,scarf,show
short          court             a    read,lesson,answer,film
green          vert              -    animal,thing,furniture,vehicle,wear,fruit,vegetable,door
red            rouge             -    animal,thing,furniture,vehicle,wear,fruit,vegetable,door
blue           bleu              -    animal,thing,furniture,vehicle,wear,door,house
white          blanc/blanche     -    animal,thing,furniture,vehicle,wear,door,house,wall
black          noir              -    animal,thing,furniture,vehicle,wear,door
yellow         jaune             -    animal,thing,furniture,vehicle,wear,fruit,door
brown          marron            i    animal,thing,furniture,wear,door
grey           gris              -    animal,thing,furniture,vehicle,wear,wall
pink           rose              -    animal,thing,furniture,wear,house
purple         violet/violette   -    thing,furniture,wear
happy          heureux           e    person,animal
sad            triste            e    person,animal,story,song,film,poem,novel
tired          fatigué           m    person,animal
sick           malade            -    person,animal
nice           gentil/gentille   e    person,pet
intelligent    intelligent       m    person,animal
funny          drôle             e    person,animal,read,film
brave          courageux         e    person,animal
lazy           paresseux         e    person,animal
polite         poli              m    person
rich           riche             e    person
famous         célèbre           m    role,king,queen,prince,hero,book,song,film,painting,castle
strong         fort              e    person,animal
weak           faible            e    person,animal
jealous        jaloux/jalouse    m    person
proud          fier              m    person,animal
curious        curieux           m    person,animal
shy            timide            m    person,animal
serious        sérieux           m    person,problem
generous       généreux          m    person
cruel          cruel             m    person,animal
elegant        élégant           m    person,wear
patient        patient           m    person,animal
loyal          loyal             m    person,pet,horse
honest         honnête           m    person
calm           calme             e    person,animal,waters
nervous        nerveux           m    person,animal
worried        inquiet/inquiète  m    person
surprised      surpris           m,p  person
ready          prêt              p    person
alone          seul              p    person,animal
poor           pauvre            e,p  person
French         français          -    person,wear,read,cheese,wine,sung,film
English        anglais           -    person,tea,read,sung,film
Italian        italien           -    person,wear,coffee,read,sung,film,vehicle
Spanish        espagnol          -    person,wine,read,sung,film
wild           sauvage           -    animal,flower
dangerous      dangereux         m    animal,way,waters,height,knife,vehicle,game
gentle         doux/douce        e    animal,man,woman,mother,father
lively         vif/vive          e    child,boy,girl,animal
fast           rapide            e    animal,vehicle
slow           lent              e    animal,vehicle
greedy         gourmand          e    child,boy,girl,animal
delicious      délicieux         -    food,drink,fodder
fresh          frais/fraîche   e  fodder,fruit,vegetable,bread,fish,milk,juice,lemonade,egg,cheese
hot            chaud             e    dish,drink
cold           froid             e    dish,drink
rotten         pourri            -    fruit,vegetable,meat,fish,egg,fodder
salty          salé              m    dish,cheese,butter
sweet          sucré             e    fruit,sugary,tea,coffee,juice,lemonade
ripe           mûr               e    fruit,tomato
spicy          épicé             m    soup,meat,fish,chicken,rice,sausage,pizza,omelette
bitter         amer              m    drink,chocolate,orange,lemon
excellent      excellent         B    food,drink,read,show,role,thought
expensive      cher              m    thing,furniture,vehicle,wear,hotel,restaurant,food
heavy          lourd             e    thing,furniture,vehicle
light          léger             e    thing,furniture,wear
broken         cassé             -    fragile,machine,instrument,toy,doll,chair,table,bed,ladder
clean          propre            e    thing,furniture,vehicle,wear,place,water
dirty          sale              e    thing,furniture,vehicle,wear,place,water,animal
wet            mouillé           e    wear,animal,way,fodder,chair,bench,carpet,bed
dry            sec/sèche         e    wear,bread,cake,fodder
empty          vide              -    container,bottle,glass,cup,plate,place
full           plein             -    container,bottle,glass,cup
open           ouvert            -    opening,public
closed         fermé             -    opening,public
fragile        fragile           m    fragile,art,furniture,bridge
round          rond              -    table,mirror,box,plate,window,clock,carpet
modern         moderne           m    building,furniture,machine,art,town
useful         utile             m    thing,machine,book,thought
precious       précieux          m    ring,jewel,trophy,painting,statue,watch,book
strange        étrange           e    thing,animal,place,read,thought,show,person
comfortable    confortable       m    seat,house,hotel,vehicle,wear
magnificent    magnifique        -    thing,place,wear,animal,height,waters,show,sung
ugly           laid              e    thing,furniture,wear,animal,building
wide           large             e    way,river
narrow         étroit            e    way,river,door,window,bed,container
deep           profond           e    waters
high           haut              B,e  height
steep          raide             e    mountain,hill
noisy          bruyant           e    place,street,vehicle,clock,computer,phone,animal,child
quiet          tranquille        e    place,street,road,animal,child
dark           sombre            e    place,street
interesting    intéressant       m    read,show,thought,museum,person
boring         ennuyeux          m    read,show,thought,role
difficult      difficile         m    read,thought,game,language
easy           facile            e    thought,read,game
important      important         m    role,thought,read
original       original          m    thought,read,sung,show,art
secret         secret/secrète    -    message,letter,door,drawer,garden,box
"""


def _read(line: str) -> Adjective:
    name, french, flags, kinds = line.split()
    masculine, _, given = french.partition("/")
    marks = frozenset(flags.split(","))
    if "i" in marks:
        forms = ((masculine, masculine), (masculine, masculine))
    else:
        her = given or feminine(masculine)
        forms = ((masculine, adjective_plural(masculine)), (her, her + "s"))
    short = "e" in marks
    wanted = frozenset(kinds.split(","))
    return Adjective(
        name=name,
        french=forms,
        before_vowel=BEFORE_VOWEL.get(masculine),
        before="B" in marks,
        graded=bool(marks & {"e", "m"}),
        comparative=(IRREGULAR[name][0] if name in IRREGULAR else comparative(name),)
        if short
        else ("more", name),
        superlative=(IRREGULAR[name][1] if name in IRREGULAR else superlative(name),)
        if short
        else ("most", name),
        nouns=tuple(n for n in NOUNS.values() if n.kinds & wanted or n.name in wanted),
        attributive="p" not in marks,
        predicative="a" not in marks,
    )


IRREGULAR = {"good": ("better", "best")}
BETTER = (("meilleur", "meilleurs"), ("meilleure", "meilleures"))  # bon has no "plus bon"
ADJECTIVES = {adjective.name: adjective for adjective in map(_read, TABLE.strip().splitlines())}


@dataclass(frozen=True, eq=False)
class Sensation:
    """What English is and French has: to be hungry, avoir faim."""

    name: str
    french: tuple[str, ...]


SENSATIONS = {
    name: Sensation(name, tuple(french.split()))
    for name, french in {
        "hungry": "faim",
        "thirsty": "soif",
        "afraid": "peur",
        "sleepy": "sommeil",
        "hot": "chaud",
        "cold": "froid",
        "right": "raison",
        "wrong": "tort",
        "ashamed": "honte",
    }.items()
}


# Adjective and nouns that together would mean something else (an English teacher, a short story, a
# bad word; le bon mot, l'ours brun) or nothing: an old baby, a heavy ticket.
NOT_BESIDE = frozenset(
    (adjective, noun)
    for adjectives, nouns in (
        ("French English Italian Spanish", "teacher student"),
        ("short", "story"),
        ("good bad excellent", "word problem"),
        ("brown", "bear"),
        ("old", "baby boy girl child"),
        ("young", "baby"),
        ("heavy light", "ticket photo flower rose"),
    )
    for adjective in adjectives.split()
    for noun in nouns.split()
)


def _suiting(noun: Noun, beside: bool) -> tuple[Adjective, ...]:
    return tuple(
        a
        for a in ADJECTIVES.values()
        if noun in a.nouns
        and (a.attributive if beside else a.predicative)
        and not (beside and (a.name, noun.name) in NOT_BESIDE)
    )


# Which adjectives may stand beside a noun, and which may be said of it.
BESIDE = {noun: _suiting(noun, beside=True) for noun in NOUNS.values()}
SAID_OF = {noun: _suiting(noun, beside=False) for noun in NOUNS.values()}
