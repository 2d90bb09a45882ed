"""How French verbs conjugate: je, tu, il, nous, vous, ils, in the tenses the language speaks."""

from dataclasses import dataclass

Six = tuple[str, ...]  # je, tu, il, nous, vous, ils
IMPERFECT = ["ais", "ais", "ait", "ions", "iez", "aient"]
FUTURE = ["ai", "as", "a", "ons", "ez", "ont"]


@dataclass(frozen=True)
class Conjugation:
    """One verb's forms. The participle is the masculine singular."""

    infinitive: str
    present: Six
    imperfect: Six
    future: Six
    participle: str


# infinitive: present (six forms), stem of the future, participle.
IRREGULAR = {
    "être": ("suis es est sommes êtes sont", "ser", "été"),
    "avoir": ("ai as a avons avez ont", "aur", "eu"),
    "aller": ("vais vas va allons allez vont", "ir", "allé"),
    "faire": ("fais fais fait faisons faites font", "fer", "fait"),
    "boire": ("bois bois boit buvons buvez boivent", "boir", "bu"),
    "lire": ("lis lis lit lisons lisez lisent", "lir", "lu"),
    "écrire": ("écris écris écrit écrivons écrivez écrivent", "écrir", "écrit"),
    "voir": ("vois vois voit voyons voyez voient", "verr", "vu"),
    "prendre": ("prends prends prend prenons prenez prennent", "prendr", "pris"),
    "mettre": ("mets mets met mettons mettez mettent", "mettr", "mis"),
    "ouvrir": ("ouvre ouvres ouvre ouvrons ouvrez ouvrent", "ouvrir", "ouvert"),
    "venir": ("viens viens vient venons venez viennent", "viendr", "venu"),
    "connaître": (
        "connais connais connaît connaissons connaissez connaissent",
        "connaîtr",
        "connu",
    ),
    "suivre": ("suis suis suit suivons suivez suivent", "suivr", "suivi"),
    "construire": (
        "construis construis construit construisons construisez construisent",
        "construir",
        "construit",
    ),
    "conduire": ("conduis conduis conduit conduisons conduisez conduisent", "conduir", "conduit"),
    "peindre": ("peins peins peint peignons peignez peignent", "peindr", "peint"),
    "dormir": ("dors dors dort dormons dormez dorment", "dormir", "dormi"),
    "partir": ("pars pars part partons partez partent", "partir", "parti"),
    "sortir": ("sors sors sort sortons sortez sortent", "sortir", "sorti"),
    "courir": ("cours cours court courons courez courent", "courr", "couru"),
    "rire": ("ris ris rit rions riez rient", "rir", "ri"),
    "pouvoir": ("peux peux peut pouvons pouvez peuvent", "pourr", "pu"),
    "vouloir": ("veux veux veut voulons voulez veulent", "voudr", "voulu"),
    "devoir": ("dois dois doit devons devez doivent", "devr", "dû"),
    "savoir": ("sais sais sait savons savez savent", "saur", "su"),
    "dire": ("dis dis dit disons dites disent", "dir", "dit"),
    "croire": ("crois crois croit croyons croyez croient", "croir", "cru"),
    "asseoir": ("assieds assieds assied asseyons asseyez asseyent", "assiér", "assis"),
}
PREFIXES = ("ap", "com", "re", "de", "pour", "sou", "en")  # apprendre goes like prendre


def conjugate(infinitive: str) -> Conjugation:
    """All the forms of a verb, by its table or by its ending."""
    for prefix in ("", *PREFIXES):
        if infinitive.startswith(prefix) and infinitive.removeprefix(prefix) in IRREGULAR:
            present, future, participle = IRREGULAR[infinitive.removeprefix(prefix)]
            forms = [prefix + form for form in present.split()]
            return _whole(infinitive, forms, prefix + future, prefix + participle)
    if infinitive.endswith("er"):
        return _in_er(infinitive)
    stem = infinitive[:-2]
    if infinitive.endswith("ir"):
        forms = [stem + ending for ending in ["is", "is", "it", "issons", "issez", "issent"]]
        return _whole(infinitive, forms, infinitive, stem + "i")
    if infinitive.endswith("re"):
        forms = [stem + ending for ending in ["s", "s", "", "ons", "ez", "ent"]]
        return _whole(infinitive, forms, infinitive[:-1], stem + "u")
    raise ValueError(f"no rule conjugates {infinitive!r}: give it a row in IRREGULAR")


def _whole(infinitive: str, present: list[str], future: str, participle: str) -> Conjugation:
    stem = "ét" if infinitive == "être" else present[3].removesuffix("ons")
    imperfect = [stem + ending for ending in IMPERFECT]
    if stem.endswith("e") and infinitive.endswith("ger"):  # mangeais, but mangions
        imperfect[3:5] = [stem[:-1] + "ions", stem[:-1] + "iez"]
    if stem.endswith("ç"):  # commençais, but commencions
        imperfect[3:5] = [stem[:-1] + "cions", stem[:-1] + "ciez"]
    return Conjugation(
        infinitive=infinitive,
        present=tuple(present),
        imperfect=tuple(imperfect),
        future=tuple(future + ending for ending in FUTURE),
        participle=participle,
    )


def _in_er(infinitive: str) -> Conjugation:
    stem = infinitive[:-2]
    strong, future = _strong_stem(stem), infinitive
    if strong != stem and "é" not in stem[-2:]:  # achèterai, but préférerai
        future = strong + "er"
    if infinitive == "envoyer":
        future = "enverr"
    before_o = stem + "e" if stem.endswith("g") else stem
    if stem.endswith("c"):
        before_o = stem[:-1] + "ç"
    present = [
        strong + "e",
        strong + "es",
        strong + "e",
        before_o + "ons",
        stem + "ez",
        strong + "ent",
    ]
    return _whole(infinitive, present, future, stem + "é")


def _strong_stem(stem: str) -> str:
    """The stem under stress: achèt-, appell-, préfèr-, nettoi-."""
    if stem.endswith(("oy", "uy", "ay")):
        return stem[:-1] + "i"
    if stem.endswith("appel"):
        return stem + "l"
    if len(stem) > 2 and stem[-2] == "e" and stem[-1] in "tvnm" and stem[-3] not in "êi":
        return stem[:-2] + "è" + stem[-1]
    if len(stem) > 2 and stem[-2] == "é" and stem[-1] in "rtdg":
        return stem[:-2] + "è" + stem[-1]
    return stem
