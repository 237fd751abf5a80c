"""The triggers of 0002 again, and one more rule: a node's place follows from its parent's."""

from importlib import import_module

from django.db import migrations

before = import_module("apps.trees.migrations.0002_nodes_form_a_tree")

SQLITE_BAD_PLACE = """
    CREATE TRIGGER node_place_on_{name} BEFORE {event} ON trees_node
    WHEN NEW.place <> COALESCE(
        (SELECT place FROM trees_node WHERE id = NEW.parent_id) || substr(NEW.branch, 1, 1), ''
    )
    BEGIN SELECT RAISE(ABORT, 'the place of a node follows from its parent'); END
"""
SQLITE = [
    SQLITE_BAD_PLACE.format(name="insert", event="INSERT"),
    SQLITE_BAD_PLACE.format(name="update", event="UPDATE OF place, parent_id, branch"),
]
POSTGRESQL = [
    """
    CREATE FUNCTION node_place_fits() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.place <> COALESCE(
            (SELECT place FROM trees_node WHERE id = NEW.parent_id) || substr(NEW.branch, 1, 1), ''
        ) THEN
            RAISE EXCEPTION 'the place of a node follows from its parent'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER node_place BEFORE INSERT OR UPDATE OF place, parent_id, branch ON trees_node
    FOR EACH ROW EXECUTE FUNCTION node_place_fits()
    """,
]
SQLITE_UNDO = ["DROP TRIGGER node_place_on_insert", "DROP TRIGGER node_place_on_update"]
POSTGRESQL_UNDO = ["DROP TRIGGER node_place ON trees_node", "DROP FUNCTION node_place_fits"]


def install(apps, schema_editor):
    before.install(apps, schema_editor)
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def remove(apps, schema_editor):
    before.remove(apps, schema_editor)
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL_UNDO if on_postgresql else SQLITE_UNDO:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("trees", "0004_places_seeds_and_cuts")]
    operations = [
        migrations.RemoveField(model_name="node", name="taken_out_by"),
        migrations.RemoveField(model_name="node", name="taken_out_reason"),
        migrations.RunPython(install, remove),
    ]
