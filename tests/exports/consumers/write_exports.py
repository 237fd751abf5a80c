"""Exports the demo project, and the ShARC dev set where it is, in every format: for read_exports.

Usage: python -m tests.exports.consumers.write_exports FOLDER, with VAR_DIR and DATABASE_URL of a
folder that may be emptied.
"""

import io
import json
import os
import sys
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sharc_studio.settings")
django.setup()

from django.core.management import call_command  # noqa: E402

from apps.exports.formats.registry import FORMATS  # noqa: E402
from apps.exports.formats.rows import FINAL_ANSWERS  # noqa: E402
from apps.projects.models import Project, Split  # noqa: E402
from apps.snippets.models import Document  # noqa: E402

DATA = Path(os.environ.get("SHARC_STUDIO_DATA") or Path.cwd().parent / "shared" / "data")


def main(folder: Path) -> None:
    call_command("migrate", verbosity=0)
    call_command("load_demo", stdout=io.StringIO(), stderr=io.StringIO())
    import_dev()
    for project in Project.objects.filter(slug__in=["demo", "dev"]):
        for name in FORMATS:
            quiet = {"stdout": io.StringIO(), "stderr": io.StringIO()}
            call_command("export", project=project.slug, format=name, allow_unverified=True,
                         out=folder / project.slug / name, shards=2, **quiet)  # fmt: skip
            call_command("check_export", folder / project.slug / name, **quiet)
        write_evaluation(folder / project.slug)
        print(f"wrote {project.slug} in {len(FORMATS)} formats")


def write_evaluation(folder: Path) -> None:
    """Made-up predictions for all utterances, and what we measure on them."""
    files = sorted((folder / "sharc").glob("*/json/sharc_*.json"))
    gold = [one for path in files for one in json.loads(path.read_text())]
    asked = [one["answer"] for one in gold if one["answer"] not in FINAL_ANSWERS]
    answers = [prediction(number, one["answer"], asked) for number, one in enumerate(gold)]
    said = [
        {"utterance_id": one["utterance_id"], "answer": answer}
        for one, answer in zip(gold, answers, strict=True)
    ]
    inside = folder / "evaluation"
    inside.mkdir()
    (inside / "gold.json").write_text(json.dumps(gold))
    (inside / "predictions.json").write_text(json.dumps(said))
    scores = io.StringIO()
    call_command("evaluate_predictions", inside / "gold.json", inside / "predictions.json",
                 json=True, stdout=scores)  # fmt: skip
    (inside / "scores.json").write_text(scores.getvalue())


def prediction(number: int, answer: str, asked: list[str]) -> str:
    """Sometimes right, sometimes half right, sometimes another class."""
    words = answer.split()
    match number % 5:
        case 0:
            return ["Yes", "No", "Irrelevant", "More"][number % 4]
        case 1:
            return asked[number * 7 % len(asked)]
        case 2 if len(words) > 3:
            return " ".join([*words[1:], words[0], *words[: number % 3]])
        case 3 if len(words) > 3:
            return " ".join(words[: 1 + number % len(words)]).upper()
        case _:
            return answer


def import_dev() -> None:
    """The dev set, its documents spread over all three splits."""
    if not (DATA / "sharc" / "sharc_dev.json").exists():
        return
    lists = {
        f"negative_{kind}s": DATA / "sharc" / f"sharc_negative_{kind}_utterance_ids.txt"
        for kind in ("question", "scenario")
    }
    call_command("import_sharc", DATA / "sharc" / "sharc_dev.json", project="dev", **lists,
                 stdout=io.StringIO(), stderr=io.StringIO())  # fmt: skip
    for number, document in enumerate(Document.objects.filter(project__slug="dev")):
        split = [Split.TRAIN, Split.DEV, Split.TEST][number % 3]
        Document.objects.filter(pk=document.pk).update(split=split)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
