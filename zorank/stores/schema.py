"""The tables of the SQL store and how older databases become newer ones.

A change of the tables is a new function at the end of MIGRATIONS; those that exist are never
edited, so that a database of any earlier version can be opened.
"""

from collections.abc import Callable

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
)

rounds = sa.Table(
    "zorank_rounds",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run_id", sa.ForeignKey(runs.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("shown_at", sa.Double, nullable=False),
    sa.Column("answer", sa.JSON(none_as_null=True)),
    sa.Column("rater", sa.Text),
    sa.Column("answered_at", sa.Double),
    sa.Column("note", sa.JSON, nullable=False),
    sa.Column("undone_at", sa.Double),  # an undone round leaves the log, not the table
)

standing = rounds.c.undone_at.is_(None)

# The database itself guarantees that no round stands twice in a log.
sa.Index(
    "zorank_one_standing_round",
    rounds.c.run_id,
    rounds.c.position,
    unique=True,
    sqlite_where=standing,
    postgresql_where=standing,
)

versions = sa.Table("zorank_schema", metadata, sa.Column("version", sa.Integer, nullable=False))


def _first_tables(connection: sa.Connection) -> None:
    metadata.create_all(connection, checkfirst=False)


MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (_first_tables,)


def upgrade(connection: sa.Connection) -> None:
    """Bring a database, empty or old, to the newest tables; refuse one from the future."""
    found = 0
    if sa.inspect(connection).has_table(versions.name):
        found = connection.scalar(sa.select(versions.c.version)) or 0
    if found > len(MIGRATIONS):
        raise StoreError(
            f"this database has tables of version {found}, written by a newer zorank; "
            f"this one knows versions up to {len(MIGRATIONS)}: upgrade zorank to open it"
        )
    for migrate in MIGRATIONS[found:]:
        migrate(connection)
    if found < len(MIGRATIONS):
        connection.execute(sa.delete(versions))
        connection.execute(sa.insert(versions).values(version=len(MIGRATIONS)))
