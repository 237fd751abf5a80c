"""Is a text in another language than expected? Told by the small words that every text has.

For languages that share a script, which the script cannot tell apart. Cautious: a text that is
short, or has names and borrowed words in it, is not taken for another language.
"""

from collections.abc import Mapping

from apps.snippets.domain.folding import fold

FEWEST_WORDS = 8
FEWEST_SMALL = 4
"""Different small words of the other language."""
LEAST_SHARE = 0.25
"""Of all words are small ones of the other language; in running text about two of five are."""
TIMES_AS_MANY = 3
"""As small words of the language that is expected."""

_SMALL: Mapping[str, str] = {
    "en": "the of and to in is it that was for on are with as my be at have this or from had by "
    "not but we they i you me do am which has been can if will would there",
    "de": "der die das und ist ich nicht ein eine einen zu mit sich auf für von dem den des im "
    "war habe bin mein meine meiner auch als bei nach seit aber oder wir sie er es hat "
    "haben wird noch um am aus",
    "fr": "le la les des un une et est je ne pas que qui dans pour sur avec mon ma mes il elle "
    "nous vous ce cette suis ai été au aux du de en à plus ou mais depuis chez sont",
    "es": "el la los las un una y es yo no que en de por con para mi mis se lo soy tengo he fue "
    "muy pero como más al del desde cuando está estoy hace tiene o su",
    "it": "il lo la gli le un una e è io non che di in per con mio mia sono ho si del della nel "
    "nella da al alla ma anche come più dal ha era questo o i",
    "nl": "de het een en is ik niet van in op met voor mijn dat die aan te zijn heb ben was er "
    "maar ook als bij naar wij ze hij om uit nog heeft wordt",
    "pt": "o a os as um uma e é eu não que de em por com para meu minha se do da no na dos das "
    "sou tenho foi mas mais como ao há está estou desde ou",
    "sv": "och att det som en ett är jag inte på av för med till har den i min mitt mina om men "
    "vi de från var när så också hos eller",
    "pl": "i w nie na się z do jest że to jestem mam mój moja od po za jak ale dla o przez był "
    "była mnie już ma lub są",
}  # fmt: skip
SMALL_WORDS = {language: frozenset(map(fold, words.split())) for language, words in _SMALL.items()}
"""By language, folded. Only texts in these are told apart."""


def other_language(text: str, expected: str) -> str | None:
    """The language that the text seems to be in, if that is another one; its BCP 47 tag.

    `expected` is a BCP 47 tag, too. None where nothing can be told: of short texts, of languages
    that are not here, and where it is a close call.
    """
    ours = SMALL_WORDS.get(expected.lower().partition("-")[0])
    words = fold(text).split()
    if ours is None or len(words) < FEWEST_WORDS:
        return None
    counts = {
        language: sum(word in small for word in words)
        for language, small in SMALL_WORDS.items()
        if small is not ours
    }
    likely = max(counts, key=lambda language: counts[language])
    is_clear = (
        len(SMALL_WORDS[likely].intersection(words)) >= FEWEST_SMALL
        and counts[likely] >= LEAST_SHARE * len(words)
        and counts[likely] >= TIMES_AS_MANY * sum(word in ours for word in words)
    )
    return likely if is_clear else None
