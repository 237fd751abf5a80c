"""Languages of one script, told apart by their small words."""

import pytest

from apps.scenarios.domain.other_language import other_language

GERMAN = (
    "Ich bin seit drei Jahren bei der Stadt angestellt und habe noch nie einen Antrag gestellt."
)
ENGLISH = "I have worked for the city for three years, and have never made a claim before."


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        (GERMAN, "en", "de"),
        (GERMAN, "en-GB", "de"),
        (GERMAN, "de", None),
        (GERMAN, "ja", None),  # the script tells
        (ENGLISH, "en", None),
        (ENGLISH, "de", "en"),
        ("Je suis employé depuis trois ans et je n’ai pas de contrat avec la ville.", "en", "fr"),
        ("Tengo una casa en la ciudad y no soy el dueño de la tienda.", "en", "es"),
        ("Ich bin alt und arm.", "en", None),  # short
        ("I live in Den Haag, at Am der Burg, with Die Zeit on my mind.", "en", None),
        ("I work for Das Haus der Kunst and for Die Brücke, and I am on sick leave.", "en", None),
        ("Sold two bicycles, earned little money, paid taxes late, moved away.", "en", None),
    ],
)
def test_the_language_of_a_text(text: str, expected: str, found: str | None) -> None:
    assert other_language(text, expected) == found
