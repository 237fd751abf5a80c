import apps.snippets.fields
from django.db import migrations

BATCH = 1000


def fill(apps_then, schema_editor):
    """Rows from before the column; saving them sets it."""
    questions = apps_then.get_model("snippets", "Question").objects
    batch = []
    for question in questions.only("pk", "text").iterator(BATCH):
        question.folded_sha1 = apps.snippets.fields.sha1_of_folded(question.text)
        batch.append(question)
        if len(batch) == BATCH:
            questions.bulk_update(batch, ["folded_sha1"])
            batch = []
    questions.bulk_update(batch, ["folded_sha1"])


class Migration(migrations.Migration):
    dependencies = [("snippets", "0001_initial")]
    operations = [
        migrations.AddField(
            model_name="question",
            name="folded_sha1",
            field=apps.snippets.fields.FoldedField(
                db_index=True, default="", editable=False, max_length=40, of="text"
            ),
            preserve_default=False,
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
