"""The demo language: its sentences, word for word, and its tables of forms."""

import itertools

import pytest

from heedful.problems.demo_en_fr.adjectives import ADJECTIVES, SENSATIONS
from heedful.problems.demo_en_fr.adverbials import IN, TO
from heedful.problems.demo_en_fr.clauses import (
    FUTURE,
    NEVER,
    NO_MORE,
    NOBODY,
    NOT,
    NOTHING,
    PAST,
    PROGRESSIVE,
    clause,
    compares,
    is_like,
)
from heedful.problems.demo_en_fr.conjugation import conjugate
from heedful.problems.demo_en_fr.coreference import Twins
from heedful.problems.demo_en_fr.nouns import NOUNS
from heedful.problems.demo_en_fr.phrases import (
    ANY,
    GENERIC,
    HER,
    HOW_MANY,
    MANY,
    MY,
    NOT_A,
    NUMERALS,
    SOME,
    SOME_OF,
    THE,
    THIS,
    A,
    fixed,
    it,
    it_as_subject,
    noun_phrase,
    object_pronoun,
    place,
    subject_pronoun,
)
from heedful.problems.demo_en_fr.questions import est_ce_que
from heedful.problems.demo_en_fr.splits import is_held_out, shows_unseen, split_of, stage_of
from heedful.problems.demo_en_fr.utterance import utter
from heedful.problems.demo_en_fr.verbs import (
    ACT,
    BE,
    DO,
    FIT,
    GIVE,
    GO,
    MODALS,
)


def the(noun, *adjectives, determiner=THE, plural=0, **more):
    return noun_phrase(
        NOUNS[noun], determiner, *(ADJECTIVES[a] for a in adjectives), plural=plural, **more
    )


def said(phrase, mark="."):
    pair = utter(phrase, mark)
    return pair.english, pair.french


I = subject_pronoun  # noqa: E741


def test_i_like_the_green_cat():
    phrase = clause(I("I"), DO["like"], object=the("cat", "green"))
    assert said(phrase) == ("I like the green cat.", "J'aime le chat vert.")


def scene(
    first, verb, second, quality, which, *, denied=False, degree="", through=None, tense=PAST,
    short=False,
):  # fmt: skip
    one, other = the(first), the(second)
    options = {"negation": NOT, "short": short} if denied else {}
    if through:
        options["after"] = (place(through, other),)
    else:
        options["object"] = other
    opening = clause(one, verb, tense, **options)
    why = is_like(it_as_subject((one, other)[which]), quality, tense, degree)
    return said(opening + fixed("because", "parce que") + why)


def test_the_cow_is_hungry_and_the_hay_is_delicious():
    assert scene("cow", DO["eat"], "hay", ADJECTIVES["delicious"], 1) == (
        "The cow ate the hay because it was delicious.",
        "La vache a mangé le foin parce qu'il était délicieux.",
    )
    assert scene("cow", DO["eat"], "hay", SENSATIONS["hungry"], 0) == (
        "The cow ate the hay because it was hungry.",
        "La vache a mangé le foin parce qu'elle avait faim.",
    )


def test_the_animal_is_too_tired_and_the_street_is_too_wide():
    english, french = scene(
        "animal", DO["cross"], "street", ADJECTIVES["tired"], 0, denied=True, degree="too"
    )
    assert english == "The animal did not cross the street because it was too tired."
    assert french == "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    _, french = scene(
        "animal", DO["cross"], "street", ADJECTIVES["wide"], 1, denied=True, degree="too"
    )
    assert french == "L'animal n'a pas traversé la rue parce qu'elle était trop large."


def test_the_trophy_is_too_big_and_the_suitcase_is_too_small():
    for adjective, which, ending in (
        ("big", 0, "il était trop grand"),
        ("small", 1, "elle était trop petite"),
    ):
        english, french = scene(
            "trophy",
            FIT,
            "suitcase",
            ADJECTIVES[adjective],
            which,
            denied=True,
            degree="too",
            through=IN,
        )
        assert english.startswith("The trophy did not fit in the suitcase because it was too")
        assert french == f"Le trophée n'entrait pas dans la valise parce qu'{ending}."


LECTURE = {
    "I like the green cat.": "J'aime le chat vert.",
    "The cow ate the hay because it was delicious.":
        "La vache a mangé le foin parce qu'il était délicieux.",
    "The cow ate the hay because it was hungry.":
        "La vache a mangé le foin parce qu'elle avait faim.",
    "The animal didn't cross the street because it was too tired.":
        "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
    "The animal didn't cross the street because it was too wide.":
        "L'animal n'a pas traversé la rue parce qu'elle était trop large.",
    "The trophy does not fit in the suitcase because it is too big.":
        "Le trophée n'entre pas dans la valise parce qu'il est trop grand.",
    "The trophy does not fit in the suitcase because it is too small.":
        "Le trophée n'entre pas dans la valise parce qu'elle est trop petite.",
}  # fmt: skip


def test_the_lecture_sentences_are_spoken_in_train():
    """Not only would the grammar say them so: the train split's own frames and casts do."""
    wanted = {("cow", "hay"), ("animal", "street"), ("trophy", "suitcase")}
    spoken = dict([said(clause(I("I"), DO["like"], object=the("cat", "green")))])
    for frame, casts in stage_of("train"):
        for cast in casts:
            if (cast.first.name, cast.second.name) not in wanted:
                continue
            for mine, yours, past, short, which in itertools.product(
                cast.of_first, cast.of_second, (0, 1), (0, 1), (0, 1)
            ):
                twins = Twins(frame, cast, 0, past, short, (THE, THE), (mine, yours))
                if not shows_unseen(twins.say(which)):
                    spoken.update([said(twins.say(which))])
    assert LECTURE.items() <= spoken.items()
    assert not is_held_out(("green", "cat")) and not is_held_out(("like", "cat"))
    assert split_of("J'aime le chat vert.") == "train"


def test_a_pronoun_agrees_with_its_antecedent_and_so_does_the_participle():
    apple = the("apple")
    first = clause(I("I"), DO["buy"], PAST, object=apple)
    second = clause(I("I"), DO["eat"], PAST, object=it(apple))
    assert said(first + fixed("and", "et") + second) == (
        "I bought the apple and I ate it.",
        "J'ai acheté la pomme et je l'ai mangée.",
    )
    girls = the("girl", plural=1)
    assert said(clause(I("I"), DO["see"], PAST, object=it(girls)))[1] == "Je les ai vues."


SENTENCES = [
    (lambda: clause(I("she"), GO, PAST, after=(place(TO, the("market")),)),
     "She went to the market.", "Elle est allée au marché."),
    (lambda: clause(I("we"), ACT["wake up"], PAST),
     "We woke up.", "Nous nous sommes réveillés."),
    (lambda: clause(I("I"), DO["have"], negation=NOT, short=True,
                    object=the("cat", determiner=NOT_A)),
     "I don't have a cat.", "Je n'ai pas de chat."),
    (lambda: clause(I("he"), DO["eat"], negation=NEVER, object=the("meat", determiner=ANY)),
     "He never eats any meat.", "Il ne mange jamais de viande."),
    (lambda: clause(I("they"), DO["drink"], FUTURE, object=the("water", determiner=SOME_OF)),
     "They will drink some water.", "Ils boiront de l'eau."),
    (lambda: clause(I("you"), ACT["work"], negation=NO_MORE),
     "You do not work anymore.", "Vous ne travaillez plus."),
    (lambda: clause(I("I"), DO["see"], PAST, negation=NOTHING),
     "I did not see anything.", "Je n'ai rien vu."),
    (lambda: clause(I("I"), DO["see"], PAST, negation=NOBODY),
     "I did not see anyone.", "Je n'ai vu personne."),
    (lambda: clause(I("she"), DO["talk to"], PAST, object=object_pronoun("he")),
     "She talked to him.", "Elle lui a parlé."),
    (lambda: clause(I("he"), DO["see"], PAST, object=object_pronoun("she")),
     "He saw her.", "Il l'a vue."),
    (lambda: clause(I("he"), GIVE, PAST, recipient=object_pronoun("I"),
                    object=the("book", "interesting", determiner=A)),
     "He gave me an interesting book.", "Il m'a donné un livre intéressant."),
    (lambda: clause(I("she"), GIVE, PAST, recipient=object_pronoun("they"), object=the("book")),
     "She gave them the book.", "Elle leur a donné le livre."),
    (lambda: clause(I("I"), DO["eat"], modal=MODALS["try"], object=it(the("cake"))),
     "I try to eat it.", "J'essaie de le manger."),
    (lambda: clause(I("I"), ACT["get up"], modal=MODALS["must"]),
     "I must get up.", "Je dois me lever."),
    (lambda: clause(the("girl"), DO["play"], object=the("piano")),
     "The girl plays the piano.", "La fille joue du piano."),
    (lambda: clause(the("dog", owner=the("king")), ACT["sleep"], PROGRESSIVE),
     "The king's dog is sleeping.", "Le chien du roi dort."),
    (lambda: clause(the("horse"), BE, after=(
        compares("more", ADJECTIVES["big"], the("horse"), the("cat")),)),
     "The horse is bigger than the cat.", "Le cheval est plus grand que le chat."),
    (lambda: clause(the("soup"), BE, after=(
        compares("more", ADJECTIVES["good"], the("soup"), the("cake")),)),
     "The soup is better than the cake.", "La soupe est meilleure que le gâteau."),
    (lambda: clause(I("I"), DO["like"], object=the("cat", determiner=GENERIC, plural=1)),
     "I like cats.", "J'aime les chats."),
    (lambda: is_like(the("cow"), ADJECTIVES["old"], negation=NO_MORE),
     "The cow is not old anymore.", "La vache n'est plus vieille."),
    (lambda: clause(I("he"), DO["eat"], modal=MODALS["can"], negation=NOT, object=the("apple")),
     "He cannot eat the apple.", "Il ne peut pas manger la pomme."),
    (lambda: clause(I("he"), DO["eat"], modal=MODALS["can"], negation=NOT, short=True,
                    object=the("apple")),
     "He can't eat the apple.", "Il ne peut pas manger la pomme."),
]  # fmt: skip


@pytest.mark.parametrize("build, english, french", SENTENCES, ids=[s[1] for s in SENTENCES])
def test_the_grammar_says(build, english, french):
    assert said(build()) == (english, french)


def test_questions_open_with_est_ce_que():
    asked = est_ce_que() + clause(I("he"), DO["eat"], object=the("apple"), inverted=True)
    assert said(asked, "?") == ("Does he eat the apple?", "Est-ce qu'il mange la pomme ?")


def test_a_moved_object_still_makes_the_participle_agree():
    shoes = the("shoe", determiner=HOW_MANY, plural=1)
    bought = clause(I("you"), DO["buy"], PAST, inverted=True, without_object=shoes)
    assert said(shoes + est_ce_que() + bought, "?") == (
        "How many shoes did you buy?",
        "Combien de chaussures est-ce que vous avez achetées ?",
    )


NOUN_PHRASES = [
    (("hotel", "old"), {"determiner": A}, "an old hotel", "un vieil hôtel"),
    (("hero", "old"), {}, "the old hero", "le vieux héros"),
    (("school", "beautiful"), {"determiner": MY}, "my beautiful school", "ma belle école"),
    (("school",), {"determiner": MY}, "my school", "mon école"),
    (("hotel",), {"determiner": THIS}, "this hotel", "cet hôtel"),
    (("hero",), {"determiner": THIS}, "this hero", "ce héros"),
    (("cat", "small", "green"), {}, "the small green cat", "le petit chat vert"),
    (("cat", "small"), {"determiner": SOME, "plural": 1}, "some small cats", "de petits chats"),
    (("cat", "green"), {"determiner": SOME, "plural": 1}, "some green cats", "des chats verts"),
    (("horse", "loyal"), {"plural": 1}, "the loyal horses", "les chevaux loyaux"),
    (("shoe", "brown"), {"plural": 1}, "the brown shoes", "les chaussures marron"),
    (("bread",), {"determiner": SOME_OF}, "some bread", "du pain"),
    (("soup",), {"determiner": SOME_OF}, "some soup", "de la soupe"),
    (("egg",), {"determiner": MANY, "plural": 1}, "many eggs", "beaucoup d'œufs"),
    (("owl",), {"determiner": NUMERALS[6], "plural": 1}, "eight owls", "huit hiboux"),
    (("dress",), {"determiner": HER}, "her dress", "sa robe"),
    (("book", "useful"), {"determiner": A}, "a useful book", "un livre utile"),
    (("man", "honest"), {"determiner": A}, "an honest man", "un homme honnête"),
    (("bird", "new"), {"determiner": A}, "a new bird", "un nouvel oiseau"),
    (("book", "interesting"), {"superlative": True},
     "the most interesting book", "le livre le plus intéressant"),
    (("wine", "good"), {"superlative": True}, "the best wine", "le meilleur vin"),
    (("idea", "excellent"), {"determiner": A}, "an excellent idea", "une excellente idée"),
    (("word", "excellent"), {"determiner": SOME, "plural": 1},
     "some excellent words", "d'excellents mots"),
    (("mountain", "high"), {}, "the high mountain", "la haute montagne"),
    (("letter", "short"), {"determiner": A}, "a short letter", "une lettre courte"),
]  # fmt: skip


@pytest.mark.parametrize("parts, options, english, french", NOUN_PHRASES,
                         ids=[n[2] for n in NOUN_PHRASES])  # fmt: skip
def test_a_noun_phrase_is(parts, options, english, french):
    written = said(the(*parts, **options))
    assert written == (english[0].upper() + english[1:] + ".", french[0].upper() + french[1:] + ".")


ADJECTIVE_FORMS = {
    "white": "blanc blancs blanche blanches",
    "happy": "heureux heureux heureuse heureuses",
    "lively": "vif vifs vive vives",
    "gentle": "doux doux douce douces",
    "nice": "gentil gentils gentille gentilles",
    "brown": "marron marron marron marron",
    "blue": "bleu bleus bleue bleues",
    "original": "original originaux originale originales",
    "expensive": "cher chers chère chères",
    "dry": "sec secs sèche sèches",
    "Italian": "italien italiens italienne italiennes",
    "cruel": "cruel cruels cruelle cruelles",
    "new": "nouveau nouveaux nouvelle nouvelles",
    "worried": "inquiet inquiets inquiète inquiètes",
    "jealous": "jaloux jaloux jalouse jalouses",
    "fat": "gros gros grosse grosses",
}


@pytest.mark.parametrize("name", ADJECTIVE_FORMS)
def test_an_adjective_has_its_four_forms(name):
    (his, their), (hers, theirs) = ADJECTIVES[name].french
    assert [his, their, hers, theirs] == ADJECTIVE_FORMS[name].split()


PRESENTS = {
    "acheter": "achète achètes achète achetons achetez achètent",
    "appeler": "appelle appelles appelle appelons appelez appellent",
    "préférer": "préfère préfères préfère préférons préférez préfèrent",
    "protéger": "protège protèges protège protégeons protégez protègent",
    "commencer": "commence commences commence commençons commencez commencent",
    "nettoyer": "nettoie nettoies nettoie nettoyons nettoyez nettoient",
    "choisir": "choisis choisis choisit choisissons choisissez choisissent",
    "vendre": "vends vends vend vendons vendez vendent",
    "apprendre": "apprends apprends apprend apprenons apprenez apprennent",
    "revenir": "reviens reviens revient revenons revenez reviennent",
}


@pytest.mark.parametrize("infinitive", PRESENTS)
def test_a_verb_has_its_present(infinitive):
    assert list(conjugate(infinitive).present) == PRESENTS[infinitive].split()


def test_stems_change_where_they_should():
    assert conjugate("envoyer").future[0] == "enverrai"
    assert conjugate("acheter").future[2] == "achètera"
    assert conjugate("préférer").future[2] == "préférera"
    assert conjugate("manger").imperfect == (
        "mangeais", "mangeais", "mangeait", "mangions", "mangiez", "mangeaient")  # fmt: skip
    assert conjugate("être").imperfect[5] == "étaient"
    assert conjugate("peindre").imperfect[3] == "peignions"
    with pytest.raises(ValueError, match="IRREGULAR"):
        conjugate("absoudro")


def test_english_that_leaves_the_tense_open_is_refused():
    with pytest.raises(ValueError, match="present and past"):
        clause(I("they"), DO["read"], PAST, object=the("book"))
    english, french = said(clause(I("she"), DO["read"], PAST, object=the("book")))
    assert (english, french) == ("She read the book.", "Elle a lu le livre.")
