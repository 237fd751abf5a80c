"""The dataset card and croissant.json: what they say, and that nothing in them is missing."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.exports.formats import croissant, huggingface
from apps.exports.formats.about import About, Measured
from apps.exports.formats.card import cell, statistics_of, write_card
from apps.exports.formats.checks import FormatError
from apps.exports.formats.rows import Options
from apps.exports.formats.statistics import Statistics
from tests.exports.sources import ABOUT, ListSource, bus_source, sources
from tests.exports.sources import texts as odd_texts

AUDITED = replace(
    ABOUT, licence="CC BY 4.0", trees=3, imported_trees=1, pay="12 euros an hour", audited=90,
    agreement=("Judgements: 9 of 10 (90.0 %).",), verified={"corrected": 2, "dropped": 0},
    inconsistent=3, waived=1, citation="Bus Institute: Buses.", description="About buses.",
    audit=(Measured("Last answer | decides", 0.9, 9, 10, 0.8, "It is so."),
           Measured("Another", 0.85, 17, 20, 0.8), Measured("Nothing", None),
           Measured("Shown only", 0.25, 1, 4)),
)  # fmt: skip


def card(source: ListSource, folder: Path) -> str:
    write_card(source, folder, statistics_of(source), readers="Read by people.")
    return (folder / "README.md").read_text("utf-8")


def test_a_card_says_what_was_made_by_how_many_and_how_good_it_is(tmp_path):
    text = card(bus_source(about=AUDITED), tmp_path)
    assert text.startswith('---\nlicense: "other"\nlicense_name: "CC BY 4.0"\n')
    for said in (
        "About buses.", "This folder: Read by people.", "Of 3 trees, 1 were imported",
        "People: 2 grew trees.", "Pay: 12 euros an hour", "Judgements: 9 of 10 (90.0 %).",
        "Verification of utterances of dev and test: 2 corrected.",
        "follow from their tree: 3; for 1 of them somebody has written down why",
        "| Last answer \\| decides | 90.0 % (9 of 10) | 80.0 %, passed: It is so. |",
        "| Another | 85.0 % (17 of 20) | 80.0 %, passed: not waived |",
        "| Nothing | nothing to measure | none |", "| dev |",
        "| Shown only | 25.0 % (1 of 4) | none |",
        "The dataset: CC BY 4.0.", "Bus Institute: Buses. https://buses.example/data",
        "found: 0 e-mail addresses, 0 telephone numbers.",
    ):  # fmt: skip
        assert said in text, said
    assert "0 dropped" not in text


def test_a_card_names_the_languages_of_the_documents(tmp_path):
    text = card(bus_source(about=replace(AUDITED, languages=("ar", "en-GB", "en-US"))), tmp_path)
    assert 'language: ["ar", "en"]\n' in text
    assert 'multilinguality: ["multilingual"]\n' in text
    assert 'annotations_creators: ["crowdsourced", "expert-generated"]\n' in text


def test_a_card_does_not_say_what_is_not_known(tmp_path):
    text = card(bus_source(about=About(trees=2, imported_trees=2, licences={"": 1})), tmp_path)
    assert 'license_name: "not stated"' in text
    assert 'annotations_creators: ["found"]' in text
    assert "\n\nRules of “buses”: 1. Version 1.0.0, 1970.\n" in text
    assert "All trees were imported" in text
    assert "Experts wrote" not in text
    assert "Agreement was not measured." in text
    assert "was not measured." in text
    assert "| not stated | 1 |" in text
    assert "came with an imported dataset" in text


def test_the_sources_are_named_and_are_no_formulas(tmp_path):
    source = bus_source()
    (tree,) = source.stored["dev"]
    stored = {"dev": [replace(tree, title="=1+1")]}
    card(replace(source, stored=stored), tmp_path)
    lines = (tmp_path / "SOURCES.csv").read_bytes().decode().split("\r\n")
    assert lines[:2] == [
        "split,source_url,version,title,licence,attribution",
        "dev,https://buses.example/pass,1,'=1+1,,",
    ]


@pytest.mark.parametrize(
    ("said", "addresses", "numbers"),
    [
        ("Write to ann.other+x@mail.example.org, or a@b.", 1, 0),
        ("Call +44 20 7946 0958 or (020) 7946-0958.", 0, 2),
        ("It costs 1,000,000 in 2024, from 01.01.2024 on, article 100-200.", 0, 0),
    ],
)
def test_patterns_of_personal_data_are_counted(said, addresses, numbers):
    seen = Statistics()
    (tree,) = bus_source().stored["dev"]
    seen.add_utterances(
        [replace(tree.utterances[0], question="", scenario=said, answer="Yes")], "dev"
    )
    assert seen.personal == {"e-mail addresses": addresses, "telephone numbers": numbers}


@given(texts=st.lists(odd_texts | st.just("a\\b"), min_size=1))
@settings(max_examples=30)
def test_no_text_breaks_a_table(texts):
    for text in texts:
        assert "\n" not in cell(text)
        assert "|" not in cell(text).replace("\\\\", "").replace("\\|", "")


def test_about_makes_the_trip_through_json():
    assert About.from_json(json.loads(json.dumps(asdict(AUDITED)))) == AUDITED
    assert About.from_json({}) == About()


# Croissant ---------------------------------------------------------------------------------------


@pytest.fixture
def exported(tmp_path):
    huggingface.write(bus_source(about=AUDITED), tmp_path, Options())
    return tmp_path


def read(folder: Path):
    return json.loads((folder / croissant.CROISSANT).read_text("utf-8"))


def change(folder, path: list, value: object) -> None:
    """Sets what is at the path, or takes it out."""
    whole = read(folder)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    (folder / croissant.CROISSANT).write_text(json.dumps(whole), "utf-8")


def test_croissant_says_who_when_where_and_under_which_licence(exported):
    value = read(exported)
    assert (value["url"], value["license"]) == ("https://buses.example/data", "CC BY 4.0")
    assert value["creator"] == [{"@type": "sc:Organization", "name": "Bus Institute"}]
    assert (value["datePublished"], value["version"]) == ("2024-03-05", "1.0.0")
    assert value["rai:dataBiases"] == [
        "Last answer | decides: 90.0 %", "Another: 85.0 %", "Shown only: 25.0 %",
    ]  # fmt: skip
    assert "Pay: 12 euros an hour" in value["rai:dataAnnotationProtocol"]
    assert "telephone numbers" in value["rai:personalSensitiveInformation"][0]
    assert [one["@id"] for one in value["distribution"]] == [
        "trees/validation.parquet", "utterances/validation.parquet",
    ]  # fmt: skip


REQUIRED = [
    "@context", "@type", "conformsTo", "name", "description", "license", "url", "creator",
    "datePublished", "version", "citeAs", "rai:dataBiases", "rai:dataAnnotationProtocol",
    "rai:personalSensitiveInformation", "distribution", "recordSet",
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *(([key], None) for key in REQUIRED),
        (["url"], "buses.example"), (["creator"], []), (["license"], ""),
        (["datePublished"], "today"), (["conformsTo"], ["http://mlcommons.org/croissant/1.0"]),
        (["distribution", 0, "sha256"], "0" * 64), (["distribution", 0, "contentUrl"], "../x"),
        (["distribution", 0, "contentUrl"], "https://elsewhere.example/x"),
        (["recordSet", 0, "field", 0, "source", "extract", "column"], "other"),
        (["recordSet", 1, "field", 7, "subField"], []),
    ],
)  # fmt: skip
def test_a_croissant_with_a_fault_is_refused(exported, path, value):
    change(exported, path, value)
    with pytest.raises(FormatError, match=r"^croissant\.json: "):
        list(huggingface.read(exported))


def test_croissant_has_an_address_and_a_creator_in_any_case(tmp_path):
    huggingface.write(bus_source(about=About()), tmp_path, Options())
    value = read(tmp_path)
    assert value["url"] == "urn:sharc-studio:buses"
    assert value["creator"][0]["name"] == "The project “Rules of “buses”: 1”"
    assert value["license"] == "not stated"


@given(source=sources())
@settings(max_examples=10)
def test_any_source_has_a_card_and_metadata(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("card")
    huggingface.write(source, folder, Options())
    list(huggingface.read(folder))
