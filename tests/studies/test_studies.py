"""The studies run at a tiny size, write whole pages, go on where they stopped, and skip aloud."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.__main__ import STUDIES, main
from studies.adaptation._streams import STREAMS
from studies.screening._published import EPSILONS, MINIBATCHES, NAMES, OFFLINE, published

ROOT = Path(__file__).resolve().parents[2]
#: Studies that have something to write without real data, and one that is run as a command.
WITHOUT_DATA = {
    "conditioning",
    "defaults",
    "drift",
    "discovery",
    "interactions",
    "learning",
    "monitors",
    "networks",
    "recovery",
    "screening",
}


@pytest.fixture
def studies(monkeypatch, capsys):
    """Run the command in this process; return what it printed, line by line."""

    def run(*arguments, data=None):
        monkeypatch.delenv("STREAMSIEVE_DATA", raising=False)
        if data is not None:
            monkeypatch.setenv("STREAMSIEVE_DATA", str(data))
        assert main([*map(str, arguments)]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def published_pages():
    return {path: path.stat().st_mtime_ns for path in (ROOT / "studies").rglob("*.md")}


def check_page(path):
    text = path.read_text()
    assert not re.search(r"\bnan\b", text)
    for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
        with Image.open(path.parent / link) as image:
            image.verify()
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1, block
    return text


@pytest.fixture
def tiny_data(tmp_path):
    """Four small files with the names and kinds of the real ones."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name in NAMES:
        y = rng.integers(0, 2, 90).astype(np.int8)
        X = rng.integers(0, 5, (90, 30)).astype(np.uint16) * (rng.random((90, 30)) < 0.4)
        X[:, 0] += 4 * y.astype(X.dtype)
        if name in ("dexter", "dorothea"):
            rows, columns = np.nonzero(X)
            indptr = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))])
            pieces = {"data": X[rows, columns], "indices": columns.astype(np.uint16), "indptr": indptr}
            np.savez(folder / f"{name}.npz", y=y, shape=np.array(X.shape), **pieces)
        else:
            np.savez(folder / f"{name}.npz", X=X, y=y)
    return folder


def test_drift_runs_and_goes_on_where_it_stopped(studies, tmp_path):
    before = published_pages()
    said = studies("drift", "--quick", "--out", tmp_path)
    text = check_page(tmp_path / "DRIFT.md")
    assert text.count("](images/") == 3
    assert "the figures mean nothing" in text
    assert "python -m studies drift" in text
    assert sum(line.startswith("drift: reference, ") for line in said) == 8
    assert studies("drift", "--quick", "--out", tmp_path) == [f"drift: wrote {tmp_path / 'DRIFT.md'}"]
    assert published_pages() == before


def test_screening_runs(studies, tmp_path, tiny_data):
    studies("screening", "--quick", "--out", tmp_path, data=tiny_data)
    text = check_page(tmp_path / "SCREENING.md")
    assert all(name in text for name in NAMES)
    assert "Not done" not in text
    # with everything stored, the data is not needed any more
    again = studies("screening", "--quick", "--out", tmp_path)
    assert not any("SKIPPED" in line for line in again)
    assert check_page(tmp_path / "SCREENING.md") == text


def test_a_missing_data_set_is_skipped_aloud(studies, tmp_path, tiny_data):
    (tiny_data / "dorothea.npz").unlink()
    said = studies("screening", "--quick", "--out", tmp_path, data=tiny_data)
    assert any("SKIPPED dorothea" in line for line in said)
    text = check_page(tmp_path / "SCREENING.md")
    assert "## Not done" in text
    assert "dorothea.npz is not there" in " ".join(text.split())


def test_the_command_skips_aloud_without_data(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "STREAMSIEVE_DATA"}
    command = [sys.executable, "-W", "error", "-m", "studies", "screening", "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("SKIPPED") == 4
    assert "STREAMSIEVE_DATA is not set" in done.stdout
    assert "nothing to write" in done.stdout
    assert not (tmp_path / "SCREENING.md").exists()


def test_an_unknown_study_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        main(["nonsense"])
    assert left.value.code == 2
    assert "there is no study 'nonsense'; there is drift, screening" in capsys.readouterr().err


def check_published(study):
    text = check_page(ROOT / "studies" / f"{study.upper()}.md")
    assert "Not done" not in text
    assert "mean nothing" not in text
    return text


@pytest.mark.parametrize("study", STUDIES)
def test_the_published_page_is_whole(study):
    check_published(study)


@pytest.mark.parametrize("study", sorted(set(STUDIES) - WITHOUT_DATA))
def test_without_data_nothing_is_written(study, studies, tmp_path):
    said = "\n".join(studies(study, "--quick", "--out", tmp_path))
    assert "STREAMSIEVE_DATA is not set" in said
    assert f"{study}: nothing to write" in said
    assert study != "adaptation" or said.count("SKIPPED") == len(STREAMS)
    assert not (tmp_path / f"{study.upper()}.md").exists()


def test_every_printed_number_is_there():
    for name in NAMES:
        for size in (OFFLINE, *MINIBATCHES):
            assert published("3.2", name, size) > 0
        for epsilon in EPSILONS:
            assert published("3.3", name, epsilon) > 0
            assert published("3.4", name, epsilon) >= 0
            for criterion in ("chi2", "gini", "mutual_info"):
                assert published("3.5", name, epsilon, criterion) < 1
                assert published("3.6", name, epsilon, criterion) <= 1
    assert published("3.2", "dorothea", 1) == 27917
    assert published("3.4", "madelon", "0.2") == 76.09
    assert published("3.5", "dexter", "0.02", "gini") == 1.4e-06
