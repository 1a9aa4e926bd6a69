"""What may happen to the rows and tables of a SQLite store."""

from typing import NamedTuple

UNREADABLE = "CAST(x'ff31ff' AS TEXT)"
"""SQL for a text that is not UTF-8."""


class Damage(NamedTuple):
    """What happens to a database, and the words of the sentence that it gives.

    `id` and `run` stand for the row of the run `bad` and for its id. `relaxed` removes NOT NULL
    and unique indices first, as only a damaged schema would.
    """

    sql: str
    words: str
    relaxed: bool = False


def in_run(column, value, words=None):
    return Damage(f"UPDATE zorank_runs SET {column} = {value} WHERE id = :run", words or column)


def in_round(column, value, words=None):
    change = f"UPDATE zorank_rounds SET {column} = {value} WHERE run_id = :run AND position = 1"
    return Damage(change, words or column)


RUNS = {
    "options that are not JSON": in_run("options", "'{not json'", "a text that is not JSON"),
    "options that are a list": in_run("options", "'[1]'"),
    "options that are a number": in_run("options", "7"),
    "meta that is a list": in_run("meta", "'[]'"),
    "meta that is not UTF-8": in_run("meta", UNREADABLE),
    "meta cut in the middle": in_run("meta", "substr(meta, 1, 9)"),
    "x0 of a wrong length": in_run("x0", "x'0011'"),
    "x0 that is empty": in_run("x0", "x''"),
    "x0 that is a text": in_run("x0", "'abc'"),
    "x0 that is a number": in_run("x0", "1000000000000"),
    "x0 with a NaN": in_run("x0", "x'000000000000f87f'"),
    "x0 that is half a .npy file": in_run("x0", "x'934e554d5059'"),
    "x0 that is NULL": in_run("x0", "NULL")._replace(relaxed=True),
    "seed that is a word": in_run("seed", "'seven'"),
    "seed that is negative": in_run("seed", "'-1'"),
    "seed that is too large": in_run("seed", f"'{2**128}'"),
    "revision that is a text": in_run("revision", "'first'"),
    "created_at that is a text": in_run("created_at", "'today'"),
    "created_at that is infinite": in_run("created_at", "9e999"),
    "created_at that is out of range": in_run("created_at", "1e15"),
    "created_at that is NULL": in_run("created_at", "NULL")._replace(relaxed=True),
    "version that is a blob": in_run("version", "x'00'"),
    "optimizer that is not UTF-8": in_run("optimizer", UNREADABLE),
}
NAMES = {
    "name that is NULL": in_run("name", "NULL")._replace(relaxed=True),
    "name that is a blob": in_run("name", "x'616263'"),
    "name that is not UTF-8": in_run("name", UNREADABLE),
}
LOGS = {
    "answer that is not JSON": in_round("answer", "'{order'"),
    "answer that is a list": in_round("answer", "'[1, 2]'"),
    "answer that is a number": in_round("answer", "5"),
    "answer of an unknown kind": in_round("answer", """'{"opinion": 1}'"""),
    "answer with a negative position": in_round("answer", """'{"order": [[-1]]}'""", "negative"),
    "answer with a position twice": in_round("answer", """'{"order": [[1], [1]]}'""", "once"),
    "answer with words for positions": in_round("answer", """'{"order": [["a"]]}'""", "position"),
    "poll without ballots": in_round("answer", """'{"ballots": []}'""", "ballots"),
    "poll of a nameless rater": in_round(
        "answer",
        """'{"ballots": [{"rater": 5, "weight": 1, "ranking": {"order": []}}]}'""",
        "rater",
    ),
    "answer that is missing": in_round("answer", "NULL", "answer is missing"),
    "note that is not JSON": in_round("note", "'x'"),
    "key that is NULL": in_round("key", "NULL")._replace(relaxed=True),
    "slate that is a list": in_round("slate", "'[]'"),
    "shown_at that is a text": in_round("shown_at", "'then'"),
    "answered_at that is infinite": in_round("answered_at", "-9e999"),
    "rater that is a blob": in_round("rater", "x'ff'"),
    "position that is a text": in_round("position", "'second'"),
    "position that is negative": in_round("position", "-1"),
    "a round that is missing": Damage(
        "DELETE FROM zorank_rounds WHERE run_id = :run AND position = 1", "rounds are missing"
    ),
    "a round that is there twice": Damage(
        "UPDATE zorank_rounds SET position = 0 WHERE run_id = :run AND position = 1",
        "rounds are missing",
        relaxed=True,
    ),
}
# Damages that only a replay can notice.
REPLAYS = {
    "answer with a position that was not shown": in_round(
        "answer", """'{"order": [[99]]}'""", "position 99"
    ),
    "answer of another kind": in_round("answer", """'{"values": [1.0]}'""", "values"),
    "slate of an unknown kind": in_round(
        "slate", """'{"question": "rank", "design": {"kind": "odd"}}'""", "odd"
    ),
    "slate without a design": in_round("slate", """'{"question": "rank"}'""", "design"),
}
SETTINGS = {
    "a setting of a wrong type": in_run("options", "json_set(options, '$.m', 'many')", "m"),
    "a setting that is unknown": in_run("options", "json_set(options, '$.colour', 1)", "colour"),
    "an optimizer that is unknown": in_run("optimizer", "'nothing'", "nothing"),
}
METAS = {
    f"meta with a wrong {key}": in_run("meta", f"json_set(meta, '$.{key}', json('{value}'))", key)
    for key, value in {
        "title": "5",
        "renderer": "[]",
        "renderer_options": "3",
        "raters": '"two"',
        "looks": "1",
        "judge": '"who"',
    }.items()
}
METAS["meta without a title"] = in_run("meta", "json_remove(meta, '$.title')", "title")
DATABASES = {
    "a missing column": Damage(
        "ALTER TABLE zorank_runs DROP COLUMN meta", "lacks the column meta"
    ),
    "a missing table": Damage("DROP TABLE zorank_ballots", "lacks the table zorank_ballots"),
    "no table of versions": Damage("DROP TABLE zorank_schema", "but not zorank_schema"),
    "an empty table of versions": Damage("DELETE FROM zorank_schema", "no row in zorank_schema"),
    "two versions": Damage("INSERT INTO zorank_schema VALUES (3)", "2 rows in zorank_schema"),
    "a version that is a text": Damage("UPDATE zorank_schema SET version = 'new'", "'new'"),
    "a version that is negative": Damage("UPDATE zorank_schema SET version = -1", "-1"),
    "a version that is newer": Damage("UPDATE zorank_schema SET version = 99", "upgrade zorank"),
    "a version that is NULL": Damage("UPDATE zorank_schema SET version = NULL", "None", True),
    "tables that belong to something else": Damage(
        "DROP TABLE zorank_rounds; CREATE TABLE zorank_rounds (id INTEGER)", "lacks the column"
    ),
}
