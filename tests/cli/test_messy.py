"""Messy files give the right answer, or an error whose advice, when followed, gives it."""

import json

import pytest

from streamsieve.cli import run
from tests.cli.messy import CASES, write


def selection(capsys, data, *options):
    """Return exit code, kept features and notes, or the error."""
    capsys.readouterr()
    code = run(["select", str(data), "--target", "label", "--json", *options])
    said = capsys.readouterr()
    if code not in (0, 1):
        return code, said.err
    result = json.loads(said.out)
    return code, ([row["feature"] for row in result["kept"]], "\n".join(result["notes"]))


def followed(case, path, options):
    """Return what to read after the advice of an error was taken, and the options."""
    if case.repair is None:
        kept = [each for each in options if case.advice and each not in ("--where", "--sql", "--categories")]
        replaced = case.advice[0] in options
        return path, (*(() if replaced else kept), *case.advice)
    before = set(path.parent.iterdir())
    case.repair(path)
    new = set(path.parent.iterdir()) - before
    return (new.pop() if new else path), options


@pytest.mark.parametrize("name", CASES)
def test_a_messy_file_is_read_or_its_advice_works(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    case, path = CASES[name], write(tmp_path, name)
    data = tmp_path / case.data if case.data else path
    code, found = selection(capsys, data, *case.options)
    if case.error:
        assert code == 2, found
        assert case.error in found
        assert found.startswith("error: ")
        assert found.count("\n") == 1
        data, options = followed(case, path, case.options)
        code, found = selection(capsys, data, *options)
    assert code == 0, found
    kept, notes = found
    assert "dose" in kept
    assert case.says in notes


def test_the_corpus_is_large_enough():
    assert len(CASES) >= 60
