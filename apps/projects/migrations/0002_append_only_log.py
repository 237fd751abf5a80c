"""The audit log is append-only: the database refuses UPDATE and DELETE on it."""

from django.db import migrations

SQLITE = [
    f"""
    CREATE TRIGGER audit_log_no_{event.lower()} BEFORE {event} ON projects_auditevent
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
    """
    for event in ("UPDATE", "DELETE")
]
POSTGRESQL = [
    """
    CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
    END $$
    """,
    """
    CREATE TRIGGER audit_log_no_change BEFORE UPDATE OR DELETE ON projects_auditevent
    FOR EACH ROW EXECUTE FUNCTION audit_log_is_append_only()
    """,
]
SQLITE_UNDO = [f"DROP TRIGGER audit_log_no_{event}" for event in ("update", "delete")]
POSTGRESQL_UNDO = [
    "DROP TRIGGER audit_log_no_change ON projects_auditevent",
    "DROP FUNCTION audit_log_is_append_only",
]


def install(apps, schema_editor):
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def remove(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL_UNDO if on_postgresql else SQLITE_UNDO:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_initial")]
    operations = [migrations.RunPython(install, remove)]
