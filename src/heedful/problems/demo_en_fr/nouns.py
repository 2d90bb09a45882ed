"""The things the demo language talks about: each noun in both languages, with what it is."""

from dataclasses import dataclass

from .english import plural as english_plural
from .french import plural as french_plural

MASCULINE, FEMININE = 0, 1


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun, its plurals, its French gender, and the kinds of thing it is ("animal", "food")."""

    name: str
    english: tuple[tuple[str, ...], tuple[str, ...]]  # singular and plural, as lists of words
    french: tuple[tuple[str, ...], tuple[str, ...]]
    gender: int
    kinds: frozenset[str]

    @property
    def mass(self) -> bool:
        """Is it poured rather than counted (bread, water)?"""
        return "mass" in self.kinds


# english[/plural]  french[/plural]  gender  kinds. An underscore is a space; plurals are given
# where the rule would get them wrong.
TABLE = """
boy                  garçon               m person
girl                 fille                f person
man/men              homme                m person
woman/women          femme                f person
child/children       enfant               m person
baby                 bébé                 m person
teacher              professeur           m person,role,ours
doctor               médecin              m person,role,ours
king                 roi                  m person
queen                reine                f person
prince               prince               m person
princess             princesse            f person
farmer               fermier              m person,role
baker                boulanger            m person,role,ours
neighbour            voisin               m person,role,ours
hero                 héros                m person
witch                sorcière             f person
giant                géant                m person
knight               chevalier            m person
singer               chanteur             m person,role
nurse                infirmière           f person,role,ours
waiter               serveur              m person,role
waitress             serveuse             f person,role
actor                acteur               m person,role
actress              actrice              f person,role
student              étudiant             m person,role,ours
lawyer               avocat               m person,role,ours
policeman/policemen  policier             m person,role
dancer               danseuse             f person,role
lady                 dame                 f person
soldier              soldat               m person,role
tourist              touriste             m person,role
brother              frère                m person,family
sister               sœur                 f person,family
mother               mère                 f person,family
father               père                 m person,family
aunt                 tante                f person,family
uncle                oncle                m person,family
son                  fils                 m person,family
grandmother          grand-mère/grands-mères f person,family
grandfather          grand-père/grands-pères m person,family
cat                  chat                 m animal,pet
dog                  chien                m animal,pet
cow                  vache                f animal,large,grazer
horse                cheval               m animal,large,grazer
mouse/mice           souris               f animal
bird                 oiseau               m animal
rabbit               lapin                m animal,pet,grazer
goat                 chèvre               f animal,large,grazer
pig                  cochon               m animal,large
hen                  poule                f animal
duck                 canard               m animal
lion                 lion                 m animal,large
tiger                tigre                m animal,large
bear                 ours                 m animal,large
wolf/wolves          loup                 m animal,large
fox                  renard               m animal
monkey               singe                m animal
elephant             éléphant             m animal,large,grazer
turtle               tortue               f animal,pet
frog                 grenouille           f animal
snake                serpent              m animal
bee                  abeille              f animal
spider               araignée             f animal
butterfly            papillon             m animal
squirrel             écureuil             m animal
giraffe              girafe               f animal,large,grazer
ant                  fourmi               f animal
donkey               âne                  m animal,large,grazer
owl                  hibou/hiboux         m animal
hamster              hamster              m animal,pet,grazer
seagull              mouette              f animal
camel                chameau              m animal,large,grazer
animal               animal               m animal,large,grazer
apple                pomme                f food,fruit
orange               orange               f food,fruit
banana               banane               f food,fruit
pear                 poire                f food,fruit
strawberry           fraise               f food,fruit
cherry               cerise               f food,fruit
peach                pêche                f food,fruit
lemon                citron               m food,fruit
melon                melon                m food,fruit
pineapple            ananas               m food,fruit
tomato/tomatoes      tomate               f food,vegetable
potato/potatoes      pomme_de_terre/pommes_de_terre f food,vegetable
carrot               carotte              f food,vegetable
onion                oignon               m food,vegetable
mushroom             champignon           m food,vegetable
bean                 haricot              m food,vegetable
egg                  œuf                  m food,dish
cake                 gâteau               m food,dish,sugary
pie                  tarte                f food,dish,sugary
biscuit              biscuit              m food,dish,sugary
sandwich             sandwich             m food,dish
omelette             omelette             f food,dish
pizza                pizza                f food,dish
sausage              saucisse             f food,dish
salad                salade               f food,dish
bread                pain                 m food,mass,dish
cheese               fromage              m food,mass
soup                 soupe                f food,mass,dish
meat                 viande               f food,mass,dish
fish                 poisson              m food,mass,dish
chicken              poulet               m food,mass,dish
rice                 riz                  m food,mass,dish
butter               beurre               m food,mass
jam                  confiture            f food,mass,sugary
honey                miel                 m food,mass,sugary
chocolate            chocolat             m food,mass,sugary
ice_cream            glace                f food,mass,sugary
hay                  foin                 m fodder,mass
grass                herbe                f fodder,mass
water                eau                  f drink,mass
milk                 lait                 m drink,mass
tea                  thé                  m drink,mass
coffee               café                 m drink,mass
juice                jus                  m drink,mass
wine                 vin                  m drink,mass
beer                 bière                f drink,mass
lemonade             limonade             f drink,mass
dress                robe                 f wear
hat                  chapeau              m wear
shirt                chemise              f wear
coat                 manteau              m wear
skirt                jupe                 f wear
shoe                 chaussure            f wear
sweater              pull                 m wear
scarf/scarves        écharpe              f wear
jacket               veste                f wear
glove                gant                 m wear
tie                  cravate              f wear
suit                 costume              m wear
book                 livre                m read
letter               lettre               f read,written,told
newspaper            journal              m read
story                histoire             f read,written,told
poem                 poème                m read,written
novel                roman                m read,written
message              message              m read,written,told
article              article              m read,written
key                  clé                  f thing
box                  boîte                f thing,container,opening
bag                  sac                  m thing,container,opening
suitcase             valise               f thing,container,opening
basket               panier               m thing,container
bottle               bouteille            f thing,fragile,opening
glass                verre                m thing,fragile
cup                  tasse                f thing,fragile
plate                assiette             f thing,fragile
vase                 vase                 m thing,fragile
mirror               miroir               m thing,fragile
lamp                 lampe                f thing,fragile,machine
knife/knives         couteau              m thing
fork                 fourchette           f thing
spoon                cuillère             f thing
umbrella             parapluie            m thing
watch                montre               f thing,machine
phone                téléphone            m thing,machine
computer             ordinateur           m thing,machine
pencil               crayon               m thing
pen                  stylo                m thing
painting             tableau              m thing,art
photo                photo                f thing,art
statue               statue               f thing,art
flower               fleur                f thing,plant
rose                 rose                 f thing,plant
toy                  jouet                m thing
ball                 balle                f thing
doll                 poupée               f thing
gift                 cadeau               m thing
ring                 bague                f thing
jewel                bijou/bijoux         m thing
candle               bougie               f thing
trophy               trophée              m thing
ticket               billet               m thing
ladder               échelle              f thing
guitar               guitare              f thing,instrument
piano                piano                m furniture,instrument
violin               violon               m thing,instrument
flute                flûte                f thing,instrument
drum                 tambour              m thing,instrument
chair                chaise               f furniture,seat
table                table                f furniture,top
bed                  lit                  m furniture,seat
armchair             fauteuil             m furniture,seat
sofa                 canapé               m furniture,seat
bench                banc                 m furniture,seat
carpet               tapis                m furniture,seat
desk                 bureau               m furniture,top
shelf/shelves        étagère              f furniture,top
cupboard             placard              m furniture,container,opening
wardrobe             armoire              f furniture,container,opening
drawer               tiroir               m furniture,container,opening
clock                horloge              f furniture,machine
door                 porte                f opening,part
window               fenêtre              f opening,fragile,part
car                  voiture              f vehicle,machine
bicycle              vélo                 m vehicle,machine
boat                 bateau               m vehicle,machine
truck                camion               m vehicle,machine
bus                  autobus              m vehicle,machine
plane                avion                m vehicle,machine
train                train                m vehicle
house                maison               f place,building,home
school               école                f place,building,public
hospital             hôpital              m place,building,public
hotel                hôtel                m place,building,public
castle               château              m place,building,home
church               église               f place,building,public
restaurant           restaurant           m place,building,public
museum               musée                m place,building,public
library              bibliothèque         f place,building,public
bakery               boulangerie          f place,building,public
theatre              théâtre              m place,building,public
cinema               cinéma               m place,building,public
factory              usine                f place,building,public
shop                 magasin              m place,building,public
farm                 ferme                f place,building,home
station              gare                 f place,building,public
airport              aéroport             m place,building,public
kitchen              cuisine              f place,room
bedroom              chambre              f place,room
park                 parc                 m place,outdoors,public
garden               jardin               m place,outdoors
market               marché               m place,outdoors,public
zoo                  zoo                  m place,outdoors,public
village              village              m place,outdoors
town                 ville                f place,outdoors
forest               forêt                f place,outdoors,crossing
field                champ                m place,outdoors,crossing
street               rue                  f way,crossing
road                 route                f way,crossing
bridge               pont                 m way,crossing
river                rivière              f waters,crossing
lake                 lac                  m waters,crossing
mountain             montagne             f height
hill                 colline              f height
tree                 arbre                m height
wall                 mur                  m height
tower                tour                 f height
song                 chanson              f sung
film                 film                 m show
game                 jeu                  m show
concert              concert              m show
question             question             f thought
answer               réponse              f thought
word                 mot                  m thought
idea                 idée                 f thought
problem              problème             m thought
lesson               leçon                f thought
exercise             exercice             m thought
rule                 règle                f thought
"""


def _read(line: str) -> Noun:
    english, french, gender, kinds = line.split()
    name, _, many = english.partition("/")
    one_french, _, many_french = french.partition("/")
    return Noun(
        name=name.replace("_", " "),
        english=_words(name, many or english_plural(name)),
        french=_words(one_french, many_french or french_plural(one_french)),
        gender=MASCULINE if gender == "m" else FEMININE,
        kinds=frozenset(kinds.split(",")),
    )


def _words(singular: str, plural: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(singular.split("_")), tuple(plural.split("_"))


NOUNS = {noun.name: noun for noun in map(_read, TABLE.strip().splitlines())}


def of_kinds(wanted: str) -> tuple[Noun, ...]:
    """All nouns of any of the comma-separated kinds, or of that very name."""
    names = frozenset(wanted.split(","))
    return tuple(n for n in NOUNS.values() if n.kinds & names or n.name in names)
