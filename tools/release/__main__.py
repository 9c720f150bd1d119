"""Build wheel and sdist, check them, install each extra into an empty environment and use it.

``python -m tools.release [--only EXTRA ...]``; the files stay in ``dist/``.
"""

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
#: What must run in an environment that has the package and one extra; "" is the package alone.
USES = {
    "": """
        import numpy as np, streamsieve as ss
        rng = np.random.default_rng(0)
        y = np.arange(200) % 2
        X = rng.normal(size=(200, 20)); X[:, 3] += y
        for selector in (ss.Screen("f", k=1), ss.SAOLA(alpha=1e-4), ss.MRMR(k=1)):
            assert selector.fit(X, y).selected_.tolist() == [3], selector
    """,
    "cli": """
        import pathlib, subprocess, sys
        rows = "".join(f"{i % 2},{i % 2 + (i * 7919) % 13 / 10},{(i * 104729) % 17}\\n" for i in range(300))
        pathlib.Path("table.csv").write_text("outcome,dose,noise\\n" + rows)
        command = pathlib.Path(sys.executable).with_name("streamsieve")
        arguments = ["select", "table.csv", "--target", "outcome", "--method", "saola", "--out", "kept.txt"]
        subprocess.run([command, *arguments], check=True)
        assert pathlib.Path("kept.txt").read_text().split() == ["dose"]
    """,
    "parquet": """
        import pyarrow as pa, pyarrow.parquet as pq, streamsieve as ss
        y = [i % 2 for i in range(300)]
        dose, noise = [v + i % 7 / 10 for i, v in enumerate(y)], [i % 5 for i in range(300)]
        pq.write_table(pa.table({"dose": dose, "noise": noise, "y": y}), "table.parquet")
        screen = ss.run("table.parquet", ss.Screen("f", k=1), target="y")
        assert screen.get_feature_names_out().tolist() == ["dose"]
    """,
    "plot": """
        import matplotlib; matplotlib.use("agg")
        import numpy as np, streamsieve as ss
        y = np.arange(200) % 2
        screen = ss.Screen("f", k=2).fit(np.random.default_rng(0).normal(size=(200, 9)) + y[:, None], y)
        screen.plot().figure.savefig("scores.png")
    """,
    "excel": "import python_calamine, streamsieve as ss; ss.open",
    "duckdb": "import duckdb, streamsieve as ss; ss.open",
    "sql": """
        import sqlite3, streamsieve as ss
        with sqlite3.connect("table.sqlite") as database:
            database.execute("create table visits (dose real, noise real, ill integer)")
            rows = [(i % 2 + i % 7 / 10, i % 5, i % 2) for i in range(300)]
            database.executemany("insert into visits values (?, ?, ?)", rows)
        query = ss.query("sqlite:///table.sqlite", "select * from visits")
        assert ss.run(query, ss.Screen("f", k=1), target="ill").get_feature_names_out().tolist() == ["dose"]
    """,
    "dask": """
        import numpy as np, streamsieve as ss
        y = np.arange(2000) % 2
        X = np.random.default_rng(0).normal(size=(2000, 9)); X[:, 3] += y
        assert ss.run(ss.open(X, target=y), ss.Screen("f", k=1), engine="dask").selected_.tolist() == [3]
    """,
    "spark": "import pyspark, streamsieve.adapters.spark as adapter; adapter.SparkSelector",
    "kafka": "import confluent_kafka, streamsieve as ss; ss.KafkaSource",
    "river": """
        import streamsieve as ss
        from streamsieve.adapters.river import RiverSelector
        step = RiverSelector(ss.Screen("f", k=1))
        for i in range(100):
            step.learn_one({"noise": i % 5, "signal": i % 2}, bool(i % 2))
        assert step.transform_one({"noise": 3, "signal": 1}) == {"signal": 1}
    """,
}
#: What an sdist and a wheel must contain.
IN_SDIST = (
    "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
    "CODE_OF_CONDUCT.md", "Makefile", "tests/conftest.py", "docs/conf.py",
)  # fmt: skip
IN_WHEEL = ("streamsieve/py.typed",)


def main() -> int:
    """Run the checks; return 1 at the first that fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(USES), default=list(USES), metavar="EXTRA")
    options = parser.parse_args()
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", "dist", ".")
    wheel, sdist = (next((ROOT / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    _run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist))
    missing = [*_missing(_members(sdist), IN_SDIST), *_missing(_members(wheel), IN_WHEEL)]
    if missing:
        _say(f"missing from the files to release: {', '.join(missing)}")
        return 1
    for extra in options.only:
        _try(wheel, extra)
        _say(f"ok: streamsieve[{extra}]" if extra else "ok: streamsieve alone")
    return 0


def _members(file: Path) -> list[str]:
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.namelist()
    with tarfile.open(file) as sdist:
        return sdist.getnames()


def _missing(members: list[str], wanted: tuple[str, ...]) -> list[str]:
    return [name for name in wanted if not any(f"/{member}".endswith(f"/{name}") for member in members)]


def _try(wheel: Path, extra: str) -> None:
    """Install the wheel with an extra into an empty environment, and use it there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        name = f"streamsieve[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
        _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", name)
        _run(python, "-c", dedent(USES[extra]), folder=Path(folder))


def _run(*command: str, folder: Path = ROOT) -> None:
    subprocess.run(command, check=True, cwd=folder)  # noqa: S603 - our own commands


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
