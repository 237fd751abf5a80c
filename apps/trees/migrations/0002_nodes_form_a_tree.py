"""What no declared constraint can say about nodes, the database refuses by trigger.

* A node hangs under a live follow-up question of its own tree: never under a final answer, another
  tree's node, or a node that was taken out in the meantime.
* A follow-up question with live children does not become a final answer.

Unique and check constraints (in the models) forbid two live nodes on one branch and two roots.
"""

from django.db import migrations

GUARDED = "tree_id, parent_id, taken_out_at"

SQLITE_BAD_PARENT = """
    CREATE TRIGGER node_parent_on_{name} BEFORE {event} ON trees_node
    WHEN NEW.parent_id IS NOT NULL AND NEW.taken_out_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM trees_node AS parent
        WHERE parent.id = NEW.parent_id AND parent.kind = 'question'
          AND parent.tree_id = NEW.tree_id AND parent.taken_out_at IS NULL
    )
    BEGIN SELECT RAISE(ABORT, 'a node hangs under a live follow-up question of its tree'); END
"""
SQLITE = [
    SQLITE_BAD_PARENT.format(name="insert", event="INSERT"),
    SQLITE_BAD_PARENT.format(name="update", event=f"UPDATE OF {GUARDED}"),
    """
    CREATE TRIGGER node_kind_with_children BEFORE UPDATE OF kind, tree_id ON trees_node
    WHEN (NEW.kind <> 'question' OR NEW.tree_id <> OLD.tree_id) AND EXISTS (
        SELECT 1 FROM trees_node AS child
        WHERE child.parent_id = OLD.id AND child.taken_out_at IS NULL
    )
    BEGIN SELECT RAISE(ABORT, 'a node with nodes below it stays a follow-up question'); END
    """,
]
POSTGRESQL = [
    # FOR SHARE: whoever takes the parent out meanwhile waits for us, or we wait and then see it.
    """
    CREATE FUNCTION node_parent_fits() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.parent_id IS NULL OR NEW.taken_out_at IS NOT NULL THEN RETURN NEW; END IF;
        PERFORM 1 FROM trees_node AS parent
        WHERE parent.id = NEW.parent_id AND parent.kind = 'question'
          AND parent.tree_id = NEW.tree_id AND parent.taken_out_at IS NULL
        FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a node hangs under a live follow-up question of its tree'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    f"""
    CREATE TRIGGER node_parent BEFORE INSERT OR UPDATE OF {GUARDED} ON trees_node
    FOR EACH ROW EXECUTE FUNCTION node_parent_fits()
    """,
    """
    CREATE FUNCTION node_kind_fits() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF (NEW.kind <> 'question' OR NEW.tree_id <> OLD.tree_id) AND EXISTS (
            SELECT 1 FROM trees_node AS child
            WHERE child.parent_id = OLD.id AND child.taken_out_at IS NULL
        ) THEN
            RAISE EXCEPTION 'a node with nodes below it stays a follow-up question'
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER node_kind BEFORE UPDATE OF kind, tree_id ON trees_node
    FOR EACH ROW EXECUTE FUNCTION node_kind_fits()
    """,
]
SQLITE_UNDO = [
    "DROP TRIGGER node_parent_on_insert",
    "DROP TRIGGER node_parent_on_update",
    "DROP TRIGGER node_kind_with_children",
]
POSTGRESQL_UNDO = [
    "DROP TRIGGER node_kind ON trees_node",
    "DROP TRIGGER node_parent ON trees_node",
    "DROP FUNCTION node_kind_fits",
    "DROP FUNCTION node_parent_fits",
]


def install(apps, schema_editor):
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def remove(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL_UNDO if on_postgresql else SQLITE_UNDO:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("trees", "0001_initial")]
    operations = [migrations.RunPython(install, remove)]
