"""A published qualification test never changes: the database refuses it, row by row.

Deleting is left to foreign keys: whoever has answered a question keeps it.
"""

from django.db import migrations

SAYS = "a published test stays as it is"
IS_PUBLISHED = """
    EXISTS (SELECT 1 FROM workers_qualificationtest WHERE id IN ({tests}) AND state <> 'draft')
"""
SQLITE = [
    f"""
    CREATE TRIGGER published_test_no_{event.lower()} BEFORE {event} ON workers_qualificationquestion
    WHEN {IS_PUBLISHED.format(tests=tests)}
    BEGIN SELECT RAISE(ABORT, '{SAYS}'); END
    """
    for event, tests in (("INSERT", "NEW.test_id"), ("UPDATE", "OLD.test_id, NEW.test_id"))
]
POSTGRESQL = [
    f"""
    CREATE FUNCTION published_test_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF {IS_PUBLISHED.format(tests="NEW.test_id")}
        OR (TG_OP = 'UPDATE' AND {IS_PUBLISHED.format(tests="OLD.test_id")}) THEN
            RAISE EXCEPTION '{SAYS}' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER published_test_no_change BEFORE INSERT OR UPDATE ON workers_qualificationquestion
    FOR EACH ROW EXECUTE FUNCTION published_test_stays()
    """,
]
SQLITE_UNDO = [f"DROP TRIGGER published_test_no_{event}" for event in ("insert", "update")]
POSTGRESQL_UNDO = [
    "DROP TRIGGER published_test_no_change ON workers_qualificationquestion",
    "DROP FUNCTION published_test_stays",
]


def install(apps, schema_editor):
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def remove(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL_UNDO if on_postgresql else SQLITE_UNDO:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("workers", "0007_qualification")]
    operations = [migrations.RunPython(install, remove)]
