import codecs
import gzip
import io
import zipfile

import pytest

from apps.snippets.domain.decoding import Decoded, How, UnreadableError, decode

pytestmark = pytest.mark.once  # no database

GERMAN = (
    "Förderung für Geschäftsräume: Sie können die Förderung beantragen, wenn Sie über 18 Jahre alt"
    " sind und Ihr Geschäft in Österreich führen. Ausländische Betriebe müssen zusätzlich eine"
    " Bestätigung der zuständigen Behörde einreichen."
)
JAPANESE = "次のいずれかに該当する方は申請できます。十八歳以上の方。日本に住んでいる方。" * 3
RUSSIAN = "Вы можете подать заявление, если вам исполнилось восемнадцать лет и вы живёте здесь." * 2


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_tells_more_than_a_declaration(mark: bytes, encoding: str) -> None:
    text = f'<meta charset="windows-1252">{JAPANESE}'
    assert decode(mark + text.encode(encoding)) == Decoded(text, encoding, How.MARK)


@pytest.mark.parametrize(
    ("declaration", "encoding", "text"),
    [
        ('<meta charset="utf-8">', "utf-8", JAPANESE),
        ("<META CHARSET=Shift_JIS>", "cp932", JAPANESE),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=EUC-JP">',
            "euc_jp",
            JAPANESE,
        ),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', "cp1252", GERMAN),
        ("<meta charset='gb2312'>", "gb18030", "符合下列条件的人可以申请。"),
        ('<meta charset="koi8-r">', "koi8-r", RUSSIAN),
        ('<meta charset="utf-16">', "utf-8", JAPANESE),
    ],
)
def test_a_declaration_tells(declaration: str, encoding: str, text: str) -> None:
    text = f"{declaration}<p>{text}"
    assert decode(text.encode(encoding)) == Decoded(text, encoding, How.DECLARED)


@pytest.mark.parametrize(
    "declaration",
    [
        '<meta charset="ascii-art">',  # no such encoding
        '<meta charset="hex">',  # no encoding of text
        '<meta charset="utf-7">',  # no page may ask for it
        '<meta charset="euc-jp">',  # does not hold
        "<p>charset=utf-16</p>",  # no declaration
        "",
    ],
)
def test_without_a_declaration_that_holds_it_is_detected(declaration: str) -> None:
    text = declaration + GERMAN
    assert decode(text.encode()) == Decoded(text, "utf-8", How.DETECTED)
    assert decode(text.encode("cp1252")).text == text


@pytest.mark.parametrize(
    ("text", "encoding"), [(JAPANESE, "cp932"), (JAPANESE, "euc_jp"), (RUSSIAN, "cp1251")]
)
def test_other_encodings_are_detected(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == Decoded(text, encoding, How.DETECTED)


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode(b"") == Decoded("", "utf-8", How.DETECTED)


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("page.html", "<p>Text")
    return file.getvalue()


SAVE_AS = "save it as HTML, Markdown or plain text first."


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"%PDF-1.7 ...", f"This is a PDF file: {SAVE_AS}"),
        (zipped(), f"This is a zip archive or an office document: {SAVE_AS}"),
        (gzip.compress(b"<p>", mtime=0), f"This is a gzip archive: {SAVE_AS}"),
        (b"\x89PNG\r\n\x1a\n", f"This is a PNG image: {SAVE_AS}"),
        (b"\xff\xd8\xff\xe0", f"This is a JPEG image: {SAVE_AS}"),
        (b"GIF89a", f"This is a GIF image: {SAVE_AS}"),
        (b"\xd0\xcf\x11\xe0\xa1", f"This is an old office document: {SAVE_AS}"),
        (b"{\\rtf1", f"This is an RTF file: {SAVE_AS}"),
        (
            "<p>text".encode("utf-16-le"),
            "This is a binary file, or UTF-16 without a byte order mark: it has NUL bytes.",
        ),
        (codecs.BOM_UTF8 + b"a\0b", "This is a binary file: it has NUL characters."),
        (bytes([0x81, 0x8D, 0xFF, 0x01]) * 9, "This is no text in any encoding that we know."),
    ],
)
def test_what_is_no_text_is_refused_in_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        decode(data)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("vous êtes majeur et où vous êtes né", "cp1252"),
        ("Sie können über die Größe der Häuser entscheiden, wenn Sie es möchten.", "cp1252"),
        ("Możesz ubiegać się o dotację, jeśli masz ukończone 18 lat i mieszkasz tu.", "cp1250"),
        (
            "Galite kreiptis dėl išmokos, jei jums yra daugiau kaip 18 metų ir čia gyvenate.",
            "cp1257",
        ),
        ("Başvuru için 18 yaşından büyük olmanız ve şehirde yaşıyor olmanız gerekir.", "cp1254"),
    ],
)
def test_letters_of_the_west_are_taken_for_what_they_most_often_are(text, encoding):
    assert decode(text.encode(encoding)).text == text
