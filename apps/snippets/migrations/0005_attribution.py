from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("snippets", "0004_pinned_splits"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="attribution",
            field=models.CharField(
                blank=True,
                help_text="Whom its licence wants to be named, and how.",
                max_length=500,
            ),
        ),
    ]
