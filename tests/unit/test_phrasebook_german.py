"""German forms against textbook tables (Duden grammar), never against the grammar's own output."""

from __future__ import annotations

import pytest

from phrasebook import german
from phrasebook.clause import Clause
from phrasebook.draw import Choices
from phrasebook.english import Verb as EnglishVerb
from phrasebook.english import article, plural, verb_group
from phrasebook.lexicon import adjectives, nouns
from phrasebook.nounphrase import build
from phrasebook.people import HE, YOU, I

DECLENSIONS = {  # determiner, adjective, noun, plural → nominative, accusative, dative, genitive
    (
        "def",
        "gut",
        "Wein",
        False,
    ): "der gute Wein, den guten Wein, dem guten Wein, des guten Weines",
    ("indef", "gut", "Hund", False): (
        "ein guter Hund, einen guten Hund, einem guten Hund, eines guten Hundes"
    ),
    ("none", "kalt", "Bier", False): "kaltes Bier, kaltes Bier, kaltem Bier, kalten Biers",
    ("kein", "alt", "Haus", False): (
        "kein altes Haus, kein altes Haus, keinem alten Haus, keines alten Hauses"
    ),
    (
        "def",
        "jung",
        "Frau",
        False,
    ): "die junge Frau, die junge Frau, der jungen Frau, der jungen Frau",
    ("none", "frisch", "Milch", False): (
        "frische Milch, frische Milch, frischer Milch, frischer Milch"
    ),
    ("def", "klein", "Kind", True): (
        "die kleinen Kinder, die kleinen Kinder, den kleinen Kindern, der kleinen Kinder"
    ),
    ("none", "rot", "Apfel", True): "rote Äpfel, rote Äpfel, roten Äpfeln, roter Äpfel",
    ("dies", "nett", "Kollege", False): (
        "dieser nette Kollege, diesen netten Kollegen, "
        "diesem netten Kollegen, dieses netten Kollegen"
    ),
    ("def", "teuer", "Auto", False): (
        "das teure Auto, das teure Auto, dem teuren Auto, des teuren Autos"
    ),
    ("indef", "hoch", "Turm", False): (
        "ein hoher Turm, einen hohen Turm, einem hohen Turm, eines hohen Turmes"
    ),
    ("def", "dunkel", "Keller", False): (
        "der dunkle Keller, den dunklen Keller, dem dunklen Keller, des dunklen Kellers"
    ),
    ("def", "schön", "Name", False): (
        "der schöne Name, den schönen Namen, dem schönen Namen, des schönen Namens"
    ),
}


@pytest.mark.parametrize("key", DECLENSIONS, ids=lambda key: "-".join(map(str, key)))
def test_noun_phrases_decline_as_in_the_textbook(key: tuple[str, str, str, bool]) -> None:
    determiner, adjective, noun, many = key
    found = [word for word in adjectives() if word.predicative == adjective][:1]
    entry = next(entry for entry in nouns() if entry.singular[0] == noun)
    phrase = build(Choices(0, 0), entry, determiner, many, adjectives=tuple(found))
    assert ", ".join(phrase.de) == DECLENSIONS[key]


CONJUGATIONS = {
    "essen isst aß gegessen h": "esse isst isst essen esst",
    "arbeiten arbeitet arbeitete gearbeitet h": "arbeite arbeitest arbeitet arbeiten arbeitet",
    "fahren fährt fuhr gefahren s": "fahre fährst fährt fahren fahrt",
    "halten hält hielt gehalten h": "halte hältst hält halten haltet",
    "ein|laden lädt lud geladen h": "lade lädst lädt laden ladet",
    "lesen liest las gelesen h": "lese liest liest lesen lest",
    "wechseln wechselt wechselte gewechselt h": "wechsle wechselst wechselt wechseln wechselt",
    "wandern wandert wanderte gewandert s": "wandere wanderst wandert wandern wandert",
    "öffnen öffnet öffnete geöffnet h": "öffne öffnest öffnet öffnen öffnet",
    "zeichnen zeichnet zeichnete gezeichnet h": "zeichne zeichnest zeichnet zeichnen zeichnet",
    "wohnen wohnt wohnte gewohnt h": "wohne wohnst wohnt wohnen wohnt",
    "braten brät briet gebraten h": "brate brätst brät braten bratet",
    "tanzen tanzt tanzte getanzt h": "tanze tanzt tanzt tanzen tanzt",
    "nehmen nimmt nahm genommen h": "nehme nimmst nimmt nehmen nehmt",
}


@pytest.mark.parametrize("entry", CONJUGATIONS, ids=lambda entry: entry.split()[0])
def test_verbs_conjugate_as_in_the_textbook(entry: str) -> None:
    *singular_to_ihr, sie = german.Verb(entry).present
    assert " ".join(singular_to_ihr) == CONJUGATIONS[entry]
    assert sie == singular_to_ihr[3]


@pytest.mark.parametrize(
    ("entry", "imperative"),
    [
        ("nehmen nimmt nahm genommen h", "nimm"),
        ("vergessen vergisst vergaß vergessen h", "vergiss"),
        ("fahren fährt fuhr gefahren s", "fahr"),
        ("warten wartet wartete gewartet h", "warte"),
        ("erklären erklärt erklärte erklärt h", "erkläre"),
    ],
)
def test_imperatives(entry: str, imperative: str) -> None:
    assert german.Verb(entry).imperative == imperative


def _calling(form: str, form_en: str = "present") -> Clause:
    clause = Clause(HE, german.Verb("an|rufen ruft rief gerufen h"), EnglishVerb("call"), "{0}")
    clause.de_form, clause.en_form = form, form_en
    clause.objects, clause.complements = ["seinen Vater"], ["his father"]
    return clause


@pytest.mark.parametrize(
    ("form", "main", "last"),
    [
        ("present", "er ruft seinen Vater an", "er seinen Vater anruft"),
        ("past", "er rief seinen Vater an", "er seinen Vater anrief"),
        ("perfect", "er hat seinen Vater angerufen", "er seinen Vater angerufen hat"),
        ("future", "er wird seinen Vater anrufen", "er seinen Vater anrufen wird"),
        ("must", "er muss seinen Vater anrufen", "er seinen Vater anrufen muss"),
    ],
)
def test_separable_verbs_in_main_and_subordinate_clauses(form: str, main: str, last: str) -> None:
    clause = _calling(form)
    assert clause.de_statement() == main
    assert clause.de_final() == last
    assert clause.de_to_infinitive() == "seinen Vater anzurufen"


def test_nicht_stands_after_definite_objects_and_time_and_before_the_rest() -> None:
    clause = _calling("perfect", "past")
    clause.negative = clause.nicht = True
    clause.time, clause.rest = ("gestern", "yesterday"), ["im Büro"]
    assert clause.de_statement() == "er hat gestern seinen Vater nicht im Büro angerufen"
    assert clause.de_statement(time_first=True).startswith("gestern hat er seinen Vater nicht")
    assert clause.en_statement() == "he did not call his father yesterday"
    assert clause.de_question() == "hat er gestern seinen Vater nicht im Büro angerufen"


@pytest.mark.parametrize(
    ("preposition", "phrase", "joined"),
    [
        ("in", "dem Park", "im Park"),
        ("zu", "der alten Bank", "zur alten Bank"),
        ("in", "das Kino", "ins Kino"),
        ("von", "dem Haus", "vom Haus"),
        ("auf", "dem Tisch", "auf dem Tisch"),
        ("in", "den Wald", "in den Wald"),
    ],
)
def test_prepositions_fuse(preposition: str, phrase: str, joined: str) -> None:
    assert german.join(preposition, phrase) == joined


@pytest.mark.parametrize(
    ("form", "agreement", "statement", "negated"),
    [
        ("present", 1, "goes", "does not go"),
        ("past", 2, "went", "did not go"),
        ("progressive", 0, "am going", "am not going"),
        ("perfect", 1, "has gone", "has not gone"),
        ("past have to", 1, "had to go", "did not have to go"),
        ("be allowed to", 2, "are allowed to go", "are not allowed to go"),
        ("would like to", 0, "would like to go", "would not like to go"),
    ],
)
def test_english_verb_groups(form: str, agreement: int, statement: str, negated: str) -> None:
    auxiliary, rest, finite, finite_rest = verb_group(EnglishVerb("go"), form, agreement)
    assert f"{finite} {finite_rest}".strip() == statement
    assert f"{auxiliary} not {rest}".strip() == negated


def test_english_articles_and_plurals() -> None:
    assert article("apple") == "an apple"
    assert article("university") == "a university"
    assert [plural(word) for word in ("key", "city", "bus", "watch")] == [
        "keys",
        "cities",
        "buses",
        "watches",
    ]


def test_pronouns_agree_on_both_sides() -> None:
    verb = german.Verb("sein ist war gewesen s")
    for pronoun, de, en in ((I, "bin", "am"), (YOU, "bist", "are"), (HE, "ist", "is")):
        clause = Clause(pronoun, verb, EnglishVerb("be"), "")
        assert clause.de_statement().endswith(de)
        assert clause.en_statement().endswith(en)
