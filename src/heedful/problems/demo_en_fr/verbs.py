"""What is done: verbs in both languages, who does them and to what."""

from dataclasses import dataclass

from . import english
from .conjugation import Conjugation, conjugate
from .nouns import Noun, of_kinds


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb: its English forms, its French conjugation, its objects and its subjects."""

    name: str
    base: str
    third: str
    past: str
    progressive: str  # empty where English does not say "is knowing"
    particle: tuple[str, ...]  # what follows the verb and belongs to it: look *for*
    french: Conjugation
    with_be: bool  # compound tenses take être
    reflexive: bool
    state: bool  # its past is an imparfait; an event's is a passé composé
    preposition: str | None  # parler *à* quelqu'un, jouer *du* piano
    objects: tuple[Noun, ...]
    by_persons: bool
    animals: tuple[Noun, ...]  # the animals that do it, if any


WITH_BE = frozenset(
    ["aller", "venir", "arriver", "partir", "rester", "tomber", "entrer", "sortir", "revenir"]
)

# english[/past][+particle]  french[~preposition]  kind  objects  subjects.
# Kinds: event; plain, an event without -ing; state. Subjects: p persons, a animals, g grazers.
TRANSITIVE = """
eat/ate             manger       event food                     pa
eat/ate             manger       event fodder                   g
drink/drank         boire        event drink                    p
drink/drank         boire        event water,milk               a
prepare             préparer     event dish                     p
taste               goûter       plain food,drink               pa
buy/bought          acheter      event food,thing,wear,furniture,vehicle,read p
sell/sold           vendre       event food,thing,wear,furniture,vehicle,house,castle p
read/read           lire         event read                     p
write/wrote         écrire       event written,sung             p
see/saw             voir         plain person,animal,thing,vehicle,place,height pa
watch               regarder     event film,concert,animal,person,waters p
hear/heard          entendre     plain person,animal,sung,vehicle pa
listen+to           écouter      event person,sung,concert,answer,story p
find/found          trouver      plain thing,animal,wear,read,answer,word p
lose/lost           perdre       event thing,wear,ticket,game   p
look+for            chercher     event thing,person,animal,wear,read,building p
open                ouvrir       event opening                  p
close               fermer       event opening                  p
break/broke         casser       event fragile,machine,toy,chair p
repair              réparer      event machine,furniture,toy,wall,door p
clean               nettoyer     event room,house,vehicle,furniture,shoe,window p
wash                laver        event wear,vehicle,pet,fruit,vegetable,cup,plate,glass p
carry               porter       event thing,baby,furniture     p
wear/wore           porter       event wear,ring,watch          p
take/took           prendre      event thing,wear,book,bus,train,plane p
choose/chose        choisir      event food,wear,book,thing,film,word p
hide/hid            cacher       event thing,read               p
forget/forgot       oublier      plain thing,wear,word,answer,lesson,person,rule p
meet/met            rencontrer   plain person                   p
visit               visiter      event public,castle,town,village,farm p
help                aider        event person,animal            p
call                appeler      event person,pet               p
invite              inviter      event person                   p
thank               remercier    event person                   p
wait+for            attendre     event person,bus,train,plane,letter,answer p
follow              suivre       event person,animal,vehicle    pa
follow              suivre       event river,rule               p
feed/fed            nourrir      event animal,baby              p
catch/caught        attraper     event animal,ball              pa
chase               poursuivre   event animal                   pa
build/built         construire   event building,wall,bridge,boat,tower p
paint               peindre      event house,wall,door,chair,flower,boat p
draw/drew           dessiner     event animal,person,house,tree,flower,castle p
learn               apprendre    event sung,poem,lesson,word,rule p
understand/understood comprendre   plain thought,read                p
explain             expliquer    event thought                     p
drive/drove         conduire     event car,truck,bus            p
steal/stole         voler        event thing,wear,car,bicycle,painting p
sing/sang           chanter      event sung                     p
kiss                embrasser    event person                   p
admire              admirer      plain person,art,building,height,animal p
cross               traverser    event crossing                 pa
climb               escalader    event mountain,hill,wall,tower p
leave/left          quitter      plain building,town,village,room p
slice               couper       event fruit,vegetable,bread,cheese,cake,meat p
throw/threw         lancer       event ball,hat,shoe,key        p
use                 utiliser     event machine,knife,fork,pencil,pen,spoon,ladder p
borrow              emprunter    event book,pen,car,bicycle,umbrella,coat,knife p
protect             protéger     event person,animal,house,castle pa
frighten            effrayer     event person,animal            pa
like                aimer        state person,animal,food,drink,wear,read,place,show,sung,thing p
love                adorer       state person,animal,food,drink,read,place,show,sung p
hate                détester     state person,animal,food,drink,wear,read,place,show,thought p
prefer              préférer     state animal,food,drink,wear,read,show,thing p
know/knew           connaître    state person,place,sung,story,answer,rule p
have/had            avoir        state animal,thing,wear,vehicle,house,book,idea p
want                vouloir      state food,drink,thing,wear,vehicle,pet,book p
talk+to             parler~à     event person,pet               p
answer              répondre~à   event person,question,letter,message p
think/thought+about penser~à     event person,problem,answer,game p
play                jouer~de     event instrument               p
"""

INTRANSITIVE = """
sleep/slept         dormir       event -                        pa
work                travailler   event -                        p
run/ran             courir       event -                        pa
swim/swam           nager        event -                        pa
dance               danser       event -                        p
sing/sang           chanter      event -                        p
laugh               rire         event -                        p
cry                 pleurer      event -                        p
smile               sourire      event -                        p
walk                marcher      event -                        pa
play                jouer        event -                        pa
travel              voyager      event -                        p
jump                sauter       event -                        pa
shout               crier        event -                        p
eat/ate             manger       event -                        pa
read/read           lire         event -                        p
arrive              arriver      event -                        pa
leave/left          partir       event -                        pa
stay                rester       event -                        pa
fall/fell           tomber       event -                        pa
come/came+back      revenir      event -                        pa
go/went+out         sortir       event -                        pa
wake/woke+up        se_réveiller event -                        pa
get/got+up          se_lever     event -                        p
rest                se_reposer   event -                        pa
have/had+fun        s'amuser     event -                        p
hurry               se_dépêcher  event -                        p
go/went+to_bed      se_coucher   event -                        p
sit/sat+down        s'asseoir    event -                        p
fall/fell+asleep    s'endormir   event -                        pa
stop                s'arrêter    event -                        pa
"""

OTHER = """
go/went             aller        event -                        pa
come/came           venir        event -                        pa
live                habiter      state -                        pa
need                avoir        state -                        p
give/gave           donner       event food,thing,wear,read     p
send/sent           envoyer      event read,gift,flower,photo,ticket p
show                montrer      event thing,wear,read,house,animal,art p
bring/brought       apporter     event food,drink,thing,wear,read p
tell/told           raconter     event story                    p
put/put             mettre       event food,thing,read,wear     p
enter               entrer~dans  event building,room,park,garden,forest pa
think/thought       penser       state -                        p
know/knew           savoir       state -                        p
say/said            dire         plain -                        p
want                vouloir      state -                        p
like                aimer        state -                        p
try                 essayer      event -                        p
begin/began         commencer    event -                        p
fit/fit             entrer       state -                        pa
be/was              être         state -                        pa
be/was              avoir        state -                        pa
"""


ANIMALS = {"p": "", "a": "animal", "pa": "animal", "g": "grazer"}


def _read(line: str) -> Verb:
    english_side, french_side, kind, objects, subjects = line.split()
    forms, _, particle = english_side.partition("+")
    base, _, past = forms.partition("/")
    infinitive, _, preposition = french_side.partition("~")
    plain = infinitive.removeprefix("se_").removeprefix("s'")
    name = " ".join([base, *particle.split("_")]).strip()
    return Verb(
        name=name,
        base=base,
        third=english.third_person(base),
        past=past or english.past(base),
        progressive=english.progressive(base) if kind == "event" else "",
        particle=tuple(particle.split("_")) if particle else (),
        french=conjugate(plain),
        with_be=plain in WITH_BE or plain != infinitive,
        reflexive=plain != infinitive,
        state=kind == "state",
        preposition=preposition or None,
        objects=() if objects == "-" else of_kinds(objects),
        by_persons="p" in subjects,
        animals=of_kinds(ANIMALS[subjects]),
    )


def _table(text: str) -> tuple[Verb, ...]:
    return tuple(map(_read, text.strip().splitlines()))


TRANSITIVES = _table(TRANSITIVE)
INTRANSITIVES = _table(INTRANSITIVE)
OTHERS = _table(OTHER)


def _named(verbs: tuple[Verb, ...]) -> dict[str, Verb]:
    """By English name; where a verb has rows for persons and for animals, the persons' row."""
    return {verb.name: verb for verb in reversed(verbs)}


DO = _named(TRANSITIVES)  # to something
ACT = _named(INTRANSITIVES)  # alone


def transitives(names: str) -> tuple[Verb, ...]:
    """The transitive verbs of these comma-separated names, in order."""
    return tuple(DO[name] for name in names.split(","))


def intransitives(names: str) -> tuple[Verb, ...]:
    """The intransitive verbs of these comma-separated names, in order."""
    return tuple(ACT[name] for name in names.split(","))


GO, COME, LIVE = OTHERS[:3]
NEED = OTHERS[3]  # avoir besoin de
GIVE, SEND, SHOW, BRING, TELL = OTHERS[4:9]
PUT, ENTER, THINK, KNOW_THAT, SAY, WANT_TO, LIKE_TO, TRY_TO, BEGIN_TO, FIT = OTHERS[9:19]
BE, FEEL = OTHERS[19:]  # être tired, avoir hungry: English says both with "be"


@dataclass(frozen=True, eq=False)
class Modal:
    """A verb that stands before another: can eat, wants to eat, is going to eat."""

    name: str
    auxiliary: tuple[str, str] | None  # can, could; None where English inflects the verb itself
    verb: Verb  # want in "wants to"; no matter where there is an auxiliary
    french: Conjugation
    state: bool
    link: str | None  # commencer *à*, essayer *de*
    past: bool  # may be said of the past
    progressive: bool  # "is going to"


MODALS = {
    "can": Modal("can", ("can", "could"), GO, conjugate("pouvoir"), True, None, True, False),
    "must": Modal("must", ("must", ""), GO, conjugate("devoir"), True, None, False, False),
    "want": Modal("want", None, WANT_TO, conjugate("vouloir"), True, None, True, False),
    "like": Modal("like", None, LIKE_TO, conjugate("aimer"), True, None, True, False),
    "try": Modal("try", None, TRY_TO, conjugate("essayer"), False, "de", True, False),
    "begin": Modal("begin", None, BEGIN_TO, conjugate("commencer"), False, "à", True, False),
    "going": Modal("going", None, GO, conjugate("aller"), True, None, False, True),
}
