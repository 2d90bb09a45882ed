"""Who and where by name: people, cities, countries."""

from .nouns import FEMININE, MASCULINE

PEOPLE = tuple(
    (english, french, FEMININE if gender == "f" else MASCULINE)
    for english, french, gender in (
        row.split()
        for row in """
        Mary Marie f
        John Jean m
        Paul Paul m
        Peter Pierre m
        Anne Anne f
        Julia Julie f
        Alice Alice f
        Emma Emma f
        Henry Henri m
        Sophie Sophie f
        Thomas Thomas m
        Claire Claire f
        Lucy Lucie f
        Charles Charles m
        Helen Hélène f
        Louis Louis m
        Martin Martin m
        Arthur Arthur m
        """.strip().splitlines()
    )
)
CITIES = (  # both "in" and "to" are à
    ("Paris", "Paris"),
    ("London", "Londres"),
    ("Rome", "Rome"),
    ("Lyon", "Lyon"),
    ("Berlin", "Berlin"),
    ("Madrid", "Madrid"),
    ("Geneva", "Genève"),
    ("Brussels", "Bruxelles"),
    ("Lisbon", "Lisbonne"),
    ("Venice", "Venise"),
    ("Athens", "Athènes"),
    ("Moscow", "Moscou"),
)
COUNTRIES = (  # with the preposition each wants: en before a feminine or a vowel, au otherwise
    ("France", "en France"),
    ("Italy", "en Italie"),
    ("Spain", "en Espagne"),
    ("Germany", "en Allemagne"),
    ("England", "en Angleterre"),
    ("Greece", "en Grèce"),
    ("Canada", "au Canada"),
    ("Japan", "au Japon"),
    ("Portugal", "au Portugal"),
    ("Brazil", "au Brésil"),
)
