"""The tables of the SQL store, and the migrations that upgrade older databases.

To change the tables, add an entry at the end of MIGRATIONS. Existing entries are never edited, so
databases of all earlier versions can be opened.
"""

from typing import Any

import sqlalchemy as sa

from zorank.errors import StoreError

metadata = sa.MetaData()

runs = sa.Table(
    "zorank_runs",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("optimizer", sa.Text, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("x0", sa.LargeBinary, nullable=False),  # little-endian float64
    sa.Column("seed", sa.Text, nullable=False),  # text: seeds may exceed 64 bits
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("meta", sa.JSON, nullable=False, server_default="{}"),
)


def _table_of_rounds(name: str, *columns: sa.Column[Any]) -> sa.Table:
    """Return a table whose rows belong to the round at a position of a run's log."""
    return sa.Table(
        name,
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        *columns,
    )


rounds = _table_of_rounds(
    "zorank_rounds",
    sa.Column("shown_at", sa.Double, nullable=False),
    sa.Column("answer", sa.JSON(none_as_null=True)),
    sa.Column("rater", sa.Text),
    sa.Column("answered_at", sa.Double),
    sa.Column("note", sa.JSON, nullable=False),
    sa.Column("undone_at", sa.Double),  # an undone round leaves the log, not the table
    sa.Column("key", sa.Text, nullable=False, server_default=""),
    sa.Column("slate", sa.JSON(none_as_null=True)),  # NULL in older logs
)

ballots = _table_of_rounds(
    "zorank_ballots",
    sa.Column("rater", sa.Text, nullable=False),
    sa.Column("weight", sa.Double, nullable=False),
    sa.Column("ranking", sa.JSON, nullable=False),
    sa.Column("cast_at", sa.Double, nullable=False),
    sa.Column("undone_at", sa.Double),
)

versions = sa.Table("zorank_schema", metadata, sa.Column("version", sa.Integer, nullable=False))

# SQLite and PostgreSQL share these statements; only the types of the primary key and of bytes
# differ. The partial unique index guarantees that a log has one current round per position.
FIRST_TABLES = """
CREATE TABLE zorank_runs (
    id {key}, name TEXT NOT NULL UNIQUE, optimizer TEXT NOT NULL, options JSON NOT NULL,
    revision INTEGER NOT NULL, x0 {bytes} NOT NULL, seed TEXT NOT NULL, version TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE zorank_rounds (
    id {key}, run_id INTEGER NOT NULL REFERENCES zorank_runs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL, shown_at DOUBLE PRECISION NOT NULL, answer JSON, rater TEXT,
    answered_at DOUBLE PRECISION, note JSON NOT NULL, undone_at DOUBLE PRECISION
);
CREATE UNIQUE INDEX zorank_one_standing_round ON zorank_rounds (run_id, position)
    WHERE undone_at IS NULL;
CREATE TABLE zorank_schema (version INTEGER NOT NULL)
"""

RATERS = """
ALTER TABLE zorank_runs ADD COLUMN meta JSON NOT NULL DEFAULT '{{}}';
ALTER TABLE zorank_rounds ADD COLUMN key TEXT NOT NULL DEFAULT '';
CREATE TABLE zorank_ballots (
    id {key}, run_id INTEGER NOT NULL REFERENCES zorank_runs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL, rater TEXT NOT NULL, weight DOUBLE PRECISION NOT NULL,
    ranking JSON NOT NULL, cast_at DOUBLE PRECISION NOT NULL, undone_at DOUBLE PRECISION
);
CREATE UNIQUE INDEX zorank_one_standing_ballot ON zorank_ballots (run_id, position, rater)
    WHERE undone_at IS NULL
"""

SLATES = "ALTER TABLE zorank_rounds ADD COLUMN slate JSON"

MIGRATIONS: tuple[str, ...] = (FIRST_TABLES, RATERS, SLATES)

ADVISORY_LOCK = 0x7A6F72616E6B  # "zorank"

DIALECTS = {
    "sqlite": {"key": "INTEGER PRIMARY KEY", "bytes": "BLOB"},
    "postgresql": {"key": "SERIAL PRIMARY KEY", "bytes": "BYTEA"},
}


def upgrade(connection: sa.Connection) -> None:
    """Create or upgrade the tables; raise a StoreError if a newer zorank made them."""
    if connection.dialect.name == "postgresql":  # processes that open a new database take turns
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ADVISORY_LOCK)))
    found = 0
    if sa.inspect(connection).has_table(versions.name):
        found = connection.scalar(sa.select(versions.c.version)) or 0
        if not found:
            raise StoreError(
                f"the table {versions.name} of this database has no version, so its other tables "
                "cannot be read safely: restore the database from a backup, or use another one"
            )
    if found > len(MIGRATIONS):
        raise StoreError(
            f"this database has tables of version {found}, written by a newer zorank; "
            f"this one knows versions up to {len(MIGRATIONS)}: upgrade zorank to open it"
        )
    types = DIALECTS.get(connection.dialect.name)
    if types is None:
        raise StoreError(
            f"{connection.dialect.name} databases are not supported; use SQLite or PostgreSQL"
        )
    for migration in MIGRATIONS[found:]:
        for statement in migration.format(**types).split(";"):
            connection.exec_driver_sql(statement)
    if found < len(MIGRATIONS):
        connection.execute(sa.delete(versions))
        connection.execute(sa.insert(versions).values(version=len(MIGRATIONS)))
