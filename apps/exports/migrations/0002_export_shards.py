import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('exports', '0001_dataset_card'),
        ('projects', '0006_deleted_projects'),
    ]

    operations = [
        migrations.CreateModel(
            name='ExportShard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('format', models.CharField(max_length=40)),
                ('split', models.CharField(blank=True, max_length=5)),
                ('first', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('size', models.PositiveBigIntegerField(help_text='About how many utterances go by.')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done')], default='waiting', max_length=10)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('heartbeat_at', models.DateTimeField(null=True)),
                ('done', models.PositiveBigIntegerField(default=0, help_text='Utterances that went by so far.')),
                ('files', models.JSONField(default=list, help_text='Path, size and SHA-256 of each.')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='projects.job')),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('job', 'number'), name='export_shard_once'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), _negated=True), ('heartbeat_at__isnull', False), _connector='OR'), name='export_shard_running_beats')],
            },
        ),
    ]
