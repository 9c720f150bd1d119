"""SQL queries as sources: DuckDB, SQLite, a real PostgreSQL server where there is one."""

import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import CapabilityError, MergeError, SourceError
from tests.engines.laws import arrays
from tests.helpers import tier

ROWS = [(i, i * 0.5, i % 2, "yes" if i % 3 else "no") for i in range(1000)]
SQL = "SELECT a, b, label FROM t ORDER BY id"


def filled(execute, many):
    execute("CREATE TABLE t (id INTEGER, a DOUBLE PRECISION, b INTEGER, label TEXT)")
    many(ROWS)


@pytest.fixture
def sqlite_file(tmp_path):
    with closing(sqlite3.connect(tmp_path / "t.db")) as con, con:
        filled(con.execute, lambda rows: con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows))
    return tmp_path / "t.db"


@pytest.fixture
def duckdb_file(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
        # row by row takes seconds
        filled(con.execute, lambda rows: con.execute(f"INSERT INTO t VALUES {str(rows)[1:-1]}"))  # noqa: S608
    return tmp_path / "t.duckdb"


def check(source):
    batches = list(source.rows(300))
    assert [len(batch.y) for batch in batches] == [300, 300, 300, 100]
    np.testing.assert_array_equal(np.vstack([b.X for b in batches]), [row[1:3] for row in ROWS])
    assert np.concatenate([b.y for b in batches]).tolist() == [row[3] for row in ROWS]
    source.check_identity(source.identity())
    assert sum(len(b.y) for b in source.rows(64, start=batches[1].position)) == 400


def test_duckdb_by_address_and_by_connection(duckdb_file):
    check(ss.open(ss.query(f"duckdb:///{duckdb_file}", SQL), target="label"))
    with duckdb.connect(str(duckdb_file)) as con:
        check(ss.open(ss.query(con, SQL), target="label"))


def test_sqlite_by_address_and_by_connection(sqlite_file):
    from adbc_driver_sqlite import dbapi

    check(ss.open(ss.query(f"sqlite:///{sqlite_file}", SQL), target="label"))
    with dbapi.connect(str(sqlite_file)) as con:
        check(ss.open(ss.query(con, SQL), target="label"))


def test_a_late_text_in_a_column_of_sqlite_says_what_to_do(sqlite_file):
    with closing(sqlite3.connect(sqlite_file)) as con, con:
        con.execute("CREATE TABLE odd (a, y INTEGER)")
        con.executemany("INSERT INTO odd VALUES (?, 1)", [(1,)] * 5000 + [("x",)])
    with pytest.raises(SourceError, match="the query failed after row .*CAST a column in the query"):
        list(ss.open(ss.query(f"sqlite:///{sqlite_file}", "SELECT * FROM odd"), target="y").rows())


KEYED = "SELECT id, a, b, label FROM t -- in any order"


def keyed(address, sql=KEYED, key="id"):
    return ss.open(ss.query(address, sql, partition_on=key), target="label", exclude="id")


def check_parts(address, engines=("dask",)):
    source = keyed(address)
    assert source.n_rows == 1000
    assert source.names == ["a", "b"]
    parts = source.parts(300)
    assert [(part.n_rows, part.first_row) for part in parts] == [(300, 0), (300, 300), (300, 600), (100, 900)]
    assert parts[1].shown == "the query, id from 300 below 600"
    parts = pickle.loads(pickle.dumps(parts))  # noqa: S301 - as they go to workers
    pieces = [batch for part in parts for batch in part.rows(128)]
    whole = list(source.rows(128))
    for each in (pieces, whole):
        np.testing.assert_array_equal(np.vstack([b.X for b in each]), [row[1:3] for row in ROWS])
        assert np.concatenate([b.y for b in each]).tolist() == [row[3] for row in ROWS]
    one = ss.run(source, ss.Screen("f"))
    found = [ss.run(source, ss.Screen("f"), engine=name, workers=2, rows_per_task=170) for name in engines]
    for each in found:
        assert each.n_samples_seen_ == 1000
        np.testing.assert_allclose(each.scores_, one.scores_, rtol=0, atol=1e-12 * one.scores_.max())
        assert arrays(each) == arrays(found[0])
    with pytest.raises(MergeError, match="both states hold part"):
        found[0].merge(ss.from_bytes(found[0].to_bytes()))


def test_a_query_is_cut_into_ranges_of_its_key(duckdb_file, sqlite_file):
    check_parts(f"duckdb:///{duckdb_file}", engines=("dask", "local") if tier.FULL else ("dask",))
    check_parts(f"sqlite:///{sqlite_file}")


@pytest.mark.parametrize("seed", range(20))
def test_any_keys_are_cut_into_ranges_that_hold_every_row_once(seed, tmp_path):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    keys = rng.integers(-50, [1, 3, 40, 10**12][seed % 4], n).tolist()
    missing = rng.random(n) < [0.0, 0.2, 1.0][seed % 3]
    rows = [(None if gone else key, i) for i, (key, gone) in enumerate(zip(keys, missing, strict=True))]
    with closing(sqlite3.connect(tmp_path / "k.db")) as con, con:
        con.execute("CREATE TABLE t (id INTEGER, a INTEGER)")
        con.executemany("INSERT INTO t VALUES (?, ?)", rows)
    with duckdb.connect(str(tmp_path / "k.duckdb")) as con:
        con.execute("CREATE TABLE t (id BIGINT, a BIGINT)")
        con.executemany("INSERT INTO t VALUES (?, ?)", rows)
    for address in (f"sqlite:///{tmp_path}/k.db", f"duckdb:///{tmp_path}/k.duckdb"):
        source = ss.open(ss.query(address, "SELECT * FROM t;", partition_on="id"), exclude="id")
        parts = source.parts(int(rng.integers(1, 100)))
        found = [[int(x) for batch in part.rows(64) for x in batch.X[:, 0]] for part in parts]
        assert [len(each) for each in found] == [part.n_rows for part in parts]
        assert sorted(x for each in found for x in each) == list(range(n))
        homes = {}
        for number, each in enumerate(found):
            for x in each:
                assert homes.setdefault(rows[x][0], number) == number  # equal keys stay together


def test_rows_that_go_between_planning_and_reading_are_missed(sqlite_file):
    parts = keyed(f"sqlite:///{sqlite_file}").parts(400)
    with closing(sqlite3.connect(sqlite_file)) as con, con:
        con.execute("DELETE FROM t WHERE id = 500")
    with pytest.raises(SourceError, match="the query, id from 400 below 800 has 1 rows less than when"):
        list(parts[1].rows(100))


def test_workers_cannot_use_an_open_connection(duckdb_file):
    with duckdb.connect(str(duckdb_file)) as con:
        source = keyed(con)
        with pytest.raises(CapabilityError, match="workers cannot use an open connection: give the address"):
            ss.run(source, ss.Screen("f"), engine="dask")


def test_what_cannot_be_cut_into_ranges_is_refused(duckdb_file):
    address = f"duckdb:///{duckdb_file}"
    with pytest.raises(SourceError, match="partition_on must be the name of a column of the query; got 3"):
        ss.query(address, KEYED, partition_on=3)
    with pytest.raises(SourceError, match="partition_on='a' must be a column of whole numbers; it holds"):
        ss.run(keyed(address, key="a"), ss.Screen("f"), engine="dask", rows_per_task=100)
    with pytest.raises(SourceError, match="the query failed after row 0: .*nowhere"):
        keyed(address, key="nowhere")
    with pytest.raises(CapabilityError, match=r"the query cannot be cut .*partition_on="):
        ss.run(ss.open(ss.query(address, SQL), target="label"), ss.Screen("f"), engine="dask")


@pytest.mark.parametrize(
    ("database", "sql", "message"),
    [
        ("oracle://tiger@db", "SELECT 1", r"got an address that begins with 'oracle://t'"),
        (3, "SELECT 1", "a query goes to an address .* got 3"),
        ("duckdb:///", " ", "sql must be the text of a query"),
        ("duckdb:///", 3, "sql must be the text of a query; got 3"),
        ("duckdb:///", " ;-- select 1", "sql must be the text of a query"),
    ],
)
def test_what_is_no_query_is_refused(database, sql, message):
    with pytest.raises(SourceError, match=message):
        ss.query(database, sql)


SECOND = "SELECT label, a FROM t; DELETE FROM t"


@pytest.mark.parametrize("address", ["sqlite:///{}", "duckdb:///", "postgresql://me@host/db"])
def test_a_second_statement_is_refused(address, sqlite_file):
    """One driver ignored it, another returned the rows of the last one."""
    with pytest.raises(SourceError, match=r"sql holds 2 statements, .*leave out 'DELETE FROM t'; a conn"):
        ss.query(address.format(sqlite_file), SECOND)
    with pytest.raises(SourceError, match="holds 3 statements, .*leave out 'SELECT 2' and what follows"):
        ss.query(address.format(sqlite_file), "SELECT 1; SELECT 2; SELECT 3")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_second_statement_about_a_file_is_refused(kind, sqlite_file, duckdb_file, tmp_path):
    given = shutil.copy(sqlite_file if kind == "sqlite" else duckdb_file, tmp_path / f"copy.{kind}")
    with pytest.raises(SourceError, match=r"sql holds 2 statements, .*leave out 'DELETE FROM t'"):
        ss.open(given, sql=SECOND, target="label")
    assert ss.open(given, sql=f"{SQL}; -- DELETE", target="label").n_columns


@pytest.mark.parametrize(
    "end",
    [
        "",
        ";",
        " ; ;\n",
        "; -- a comment; of two",
        "/* ; SELECT 2 */",
        " WHERE 'a;b' <> 'c''; d' AND \"a\" > -9",
        ";;",
    ],
)
def test_semicolons_that_begin_no_statement_are_left_alone(end, sqlite_file):
    sql = f"SELECT * FROM t {end}"  # noqa: S608 - that is what is tested
    found = ss.open(ss.query(f"sqlite:///{sqlite_file}", sql, partition_on="id"), target="label")
    assert len(found.y) == len(ss.open(ss.query(f"sqlite:///{sqlite_file}", SQL), target="label").y)
    assert found.parts(400)


def test_errors_of_databases_become_errors_of_the_source(tmp_path):
    with pytest.raises(SourceError, match="there is no SQLite file 'nowhere.db'"):
        ss.open(ss.query("sqlite:///nowhere.db", "SELECT 1"))
    assert not Path("nowhere.db").exists()
    with pytest.raises(SourceError, match="the query failed after row 0: .*nowhere"):
        ss.open(ss.query("duckdb:///", "SELECT * FROM nowhere"))


def test_a_password_stands_in_no_message():
    found = ss.query("postgresql://me:secret@localhost:1/db", "SELECT 1")
    assert "secret" not in repr(found)
    with pytest.raises(SourceError, match="the query failed") as caught:
        ss.open(found)
    assert "secret" not in str(caught.value)


@pytest.fixture(scope="session")
def postgres():
    """Address of a server of its own, on a socket in a temporary folder."""
    folders = [os.environ.get("PATH", ""), *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin")))]
    initdb = shutil.which("initdb", path=os.pathsep.join(folders))
    if initdb is None:
        pytest.skip("there is no PostgreSQL server here (initdb)")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short, as a socket's name must be, and open to its user
    data, control = folder / "data", Path(initdb).with_name("pg_ctl")
    user = {"user": 65534} if os.geteuid() == 0 else {}  # a server refuses to run as root
    if user:
        os.chown(folder, 65534, -1)
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"

    def run(*command):
        # not captured: the server keeps the pipes
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, **user)

    try:
        run(initdb, "-D", data, "-U", "me", "--auth=trust")
        run(control, "-D", data, "-o", options, "-w", "-l", folder / "log", "start")
    except (subprocess.CalledProcessError, OSError) as error:
        pytest.skip(f"a PostgreSQL server could not be started: {error}")
    yield f"postgresql:///postgres?host={folder}&user=me"
    subprocess.run(
        [control, "-D", data, "-m", "immediate", "stop"], check=True, capture_output=True, cwd="/", **user
    )


@pytest.mark.full
def test_postgresql_by_address_and_by_connection(postgres):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as con:
        with con.cursor() as cursor:
            filled(
                cursor.execute, lambda rows: cursor.executemany("INSERT INTO t VALUES ($1, $2, $3, $4)", rows)
            )
        con.commit()
        check(ss.open(ss.query(con, SQL), target="label"))
    check(ss.open(ss.query(postgres, SQL), target="label"))
    check_parts(postgres)
    with pytest.raises(SourceError, match="the query failed after row 0: .*nowhere"):
        ss.open(ss.query(postgres, "SELECT * FROM nowhere"))


@pytest.mark.parametrize("door", ["query", "file"])
def test_what_a_database_says_of_the_data_is_escaped(door, tmp_path):
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT chr(27) || '[31m' AS a, i % 2 AS y FROM range(9) r(i)")
    sql = "SELECT CAST(a AS DOUBLE) AS a, y FROM t"
    made = {"query": (ss.query(f"duckdb:///{path}", sql), {}), "file": (path, {"sql": sql})}
    data, options = made[door]
    with pytest.raises(SourceError, match=r"'\\x1b\[31m'"):
        list(ss.open(data, target="y", **options).rows(9))


LONG = {
    "sqlite": """WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 400000000)
        SELECT count(*) AS a, 1 AS y FROM r""",
    "duckdb": "SELECT count(*) AS a, 1 AS y FROM range(20000000000) r(i) WHERE hash(i) = 7",
    "postgresql": "SELECT count(*) AS a, 1 AS y FROM generate_series(1, 4000000000) r(i)",
}


def ended(data, **options):
    """Open a query that takes long, and end it; return the seconds."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    began = time.monotonic()
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            ss.open(data, target="y", **options)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    return time.monotonic() - began


#: Seconds for an answer: less than one on a machine that is not busy.
PATIENCE = 10


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("door", ["query", "file"])
def test_ctrl_c_ends_a_query(door, kind, sqlite_file, duckdb_file):
    path = sqlite_file if kind == "sqlite" else duckdb_file
    data, options = (f"{kind}:///{path}", {}) if door == "query" else (path, {"sql": LONG[kind]})
    assert ended(ss.query(data, LONG[kind]) if door == "query" else data, **options) < PATIENCE


@pytest.mark.full
def test_ctrl_c_ends_a_query_of_postgresql(postgres):
    from adbc_driver_postgresql import dbapi

    assert ended(ss.query(postgres, LONG["postgresql"])) < PATIENCE
    with dbapi.connect(postgres) as con:
        assert ended(ss.query(con, LONG["postgresql"])) < PATIENCE


EFFECTS = [
    "COPY (SELECT 1 AS y) TO '{}'",
    "VACUUM INTO '{}'",
    "ATTACH '{}' AS other",
    "INSERT INTO t VALUES (1, 2, 3, 'no') RETURNING *",
    "PRAGMA user_version = 7",
    "EXPORT DATABASE '{}'",
    "SET threads = 1",
    "  /* a comment -- */ -- and \n (DELETE FROM t)",
    "/* /* */ SELECT 1 */ COPY (SELECT 1 AS y) TO '{}'",
    "-- \r COPY (SELECT 1 AS y) TO '{}' --\nSELECT 1",
]


@pytest.mark.parametrize("sql", EFFECTS)
def test_a_statement_that_is_no_query_is_refused(sql, sqlite_file, duckdb_file, tmp_path):
    sql, files = sql.format(tmp_path / "made"), [sqlite_file, duckdb_file]
    before = [file.read_bytes() for file in files]
    for address in (
        f"sqlite:///{sqlite_file}",
        f"duckdb:///{duckdb_file}",
        "duckdb:///",
        "postgres://me@db/t",
    ):
        with pytest.raises(
            SourceError, match="sql must be a query that begins with SELECT, WITH or VALUES; "
        ):
            ss.query(address, sql)
    for file in files:
        with pytest.raises(SourceError, match="sql must be a query .*a connection of your own"):
            ss.open(file, sql=sql, target="y")
    assert [file.read_bytes() for file in files] == before
    assert not (tmp_path / "made").exists()


HIDDEN = [
    "SELECT 1 AS a$b$; COPY (SELECT 1) TO '{}'; SELECT 0 AS y, 1 AS a$b$",
    "SELECT 1 AS a$$; COPY (SELECT 1) TO '{}'; SELECT 0 AS y, 1 AS a$$",
    "SELECT $—$ ' $—$; COPY (SELECT 1) TO '{}'; SELECT 0 AS y, $—$ ' $—$",
    "--\rSELECT 1\nVACUUM INTO '{}'",
    "--\rSELECT 1\nATTACH '{}' AS other",
]


@pytest.mark.parametrize("sql", HIDDEN)
def test_a_statement_is_not_hidden_in_what_only_looks_like_a_string_or_a_comment(
    sql, sqlite_file, duckdb_file, tmp_path
):
    sql = sql.format(tmp_path / "made")
    for address in (
        f"sqlite:///{sqlite_file}",
        f"duckdb:///{duckdb_file}",
        "duckdb:///",
        "postgres://me@db/t",
    ):
        with pytest.raises(SourceError, match="sql holds 3 statements|must be a query that begins"):
            ss.query(address, sql)
    for file in (sqlite_file, duckdb_file):
        with pytest.raises(SourceError, match="sql holds 3 statements|must be a query that begins"):
            ss.open(file, sql=sql, target="y")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("sql", [*EFFECTS, *HIDDEN])
def test_databases_refuse_what_the_look_at_the_text_lets_through(
    sql, sqlite_file, duckdb_file, tmp_path, monkeypatch
):
    """Nothing but a database knows its syntax for certain."""
    for module, name in (
        ("query", "one_query"),
        ("query", "one_statement"),
        ("tables.converted", "one_query"),
    ):
        monkeypatch.setattr(sys.modules[f"streamsieve.sources.{module}"], name, lambda sql: sql)
    sql, files = sql.format(tmp_path / "made"), [sqlite_file, duckdb_file]
    before = [file.read_bytes() for file in files]
    for address in (f"sqlite:///{sqlite_file}", f"duckdb:///{duckdb_file}", "duckdb:///"):
        with pytest.raises(SourceError):
            ss.open(ss.query(address, sql), target="y")
    for file in files:
        with pytest.raises(SourceError):
            ss.open(file, sql=sql, target="y")
    assert [file.read_bytes() for file in files] == before
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("kind", "sql", "said"),
    [
        ("sqlite", "WITH n AS (SELECT 1) INSERT INTO t SELECT 1, 2, 3, 'no' FROM n", "readonly database"),
        ("duckdb", "WITH n AS (INSERT INTO t VALUES (1, 2, 3, 'no') RETURNING *) FROM n", "read-only"),
        ("duckdb", "FROM enable_logging(storage = 'file', storage_path = '{}')", "configuration"),
    ],
)
def test_a_query_that_changes_something_is_refused_by_the_database(
    kind, sql, said, sqlite_file, duckdb_file, tmp_path
):
    path = {"sqlite": sqlite_file, "duckdb": duckdb_file}[kind]
    sql, before = sql.format(tmp_path / "made"), path.read_bytes()
    for data, options in ((ss.query(f"{kind}:///{path}", sql), {}), (path, {"sql": sql})):
        with pytest.raises(SourceError, match=said):
            ss.open(data, target="y", **options)
    assert path.read_bytes() == before
    assert not (tmp_path / "made").exists()


@pytest.mark.full
def test_a_query_to_postgresql_reads_only(postgres):
    changes = "WITH gone AS (DELETE FROM pg_description RETURNING 1 AS a, 2 AS y) SELECT * FROM gone"
    with pytest.raises(SourceError, match="read-only transaction"):
        ss.open(ss.query(postgres, changes), target="y")


def test_queries_begin_in_many_ways(duckdb_file):
    ways = ["((SELECT a, b FROM t))", "FROM t", "VALUES (1, 2)", "TABLE t", "PIVOT t ON label USING sum(a)"]
    for sql in (*ways, "WITH q AS (FROM t) SELECT * FROM q", "-- all\n/* of it */SELECT*FROM t"):
        assert ss.open(ss.query(f"duckdb:///{duckdb_file}", sql), skip_text=True).n_columns
        assert ss.open(duckdb_file, sql=sql, skip_text=True).n_columns


def test_a_connection_remains_the_users(tmp_path):
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t (a INTEGER, y INTEGER)")
        source = ss.open(ss.query(con, "INSERT INTO t VALUES (1, 2) RETURNING *"), target="y")
        assert source.names == ["a"]
        assert con.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_a_column_of_sqlite_may_begin_without_values(tmp_path):
    with closing(sqlite3.connect(tmp_path / "late.db")) as con, con:
        con.execute("CREATE TABLE t (i INTEGER, a, b, y TEXT)")
        rows = [
            (i, None if i < 3000 else i / 2, i if i < 3000 else i + 0.5, "yn"[i % 2]) for i in range(5000)
        ]
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    source = ss.open(ss.query(f"sqlite:///{tmp_path}/late.db", "SELECT * FROM t ORDER BY i"), target="y")
    batches = list(source.rows(700))
    wanted = [[i, np.nan if a is None else a, b] for i, a, b, _ in rows]
    np.testing.assert_array_equal(np.vstack([batch.X for batch in batches]), wanted)
    assert np.concatenate([batch.y for batch in batches]).tolist() == [row[3] for row in rows]
