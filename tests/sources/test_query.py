"""SQL queries as sources: DuckDB, SQLite by ADBC, a real PostgreSQL server where there is one."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import SourceError

ROWS = [(i, i * 0.5, i % 2, "yes" if i % 3 else "no") for i in range(1000)]
SQL = "SELECT a, b, label FROM t ORDER BY id"


def filled(execute, many):
    execute("CREATE TABLE t (id INTEGER, a DOUBLE PRECISION, b INTEGER, label TEXT)")
    many(ROWS)


@pytest.fixture
def sqlite_file(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as con:
        filled(con.execute, lambda rows: con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows))
    return tmp_path / "t.db"


@pytest.fixture
def duckdb_file(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
        filled(con.execute, lambda rows: con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows))
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
    with sqlite3.connect(sqlite_file) as con:
        con.execute("CREATE TABLE odd (a, y INTEGER)")
        con.executemany("INSERT INTO odd VALUES (?, 1)", [(1,)] * 5000 + [("x",)])
    with pytest.raises(SourceError, match="the query failed after row .*CAST a column in the query"):
        list(ss.open(ss.query(f"sqlite:///{sqlite_file}", "SELECT * FROM odd"), target="y").rows())


@pytest.mark.parametrize(
    ("database", "sql", "message"),
    [
        ("oracle://tiger@db", "SELECT 1", r"got an address that begins with 'oracle://t'"),
        (3, "SELECT 1", "a query goes to an address .* got 3"),
        ("duckdb:///", " ", "sql must be the text of a query"),
        ("duckdb:///", 3, "sql must be the text of a query; got 3"),
    ],
)
def test_what_is_no_query_is_refused(database, sql, message):
    with pytest.raises(SourceError, match=message):
        ss.query(database, sql)


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
    with pytest.raises(SourceError, match="the query failed after row 0: .*nowhere"):
        ss.open(ss.query(postgres, "SELECT * FROM nowhere"))
