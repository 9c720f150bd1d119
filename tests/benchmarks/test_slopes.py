"""The growth of cost is measured as it is."""

import sys
import time

import pytest

import streamsieve as ss
from benchmarks import slopes


class Known:
    """A method whose cost is known: rows times columns squared."""

    def fit(self, X, y):
        time.process_time.now += 1e-6 * X.shape[0] * X.shape[1] ** 2
        self.size = X.shape[1]
        return self

    def to_bytes(self):
        return bytes(100 * self.size)


def test_known_powers_are_found(monkeypatch):
    def clock():
        return clock.now

    clock.now = 0.0
    monkeypatch.setattr(time, "process_time", clock)
    found = slopes.measure("offline", Known, slopes.Size(100, 20))
    assert found["slopes"] == {"time": {"rows": 1.0, "columns": 2.0}, "state": {"rows": 0.0, "columns": 1.0}}
    assert found["state_bytes"] == 2_000
    assert found["seconds"] == pytest.approx(0.04)


def test_a_quick_run_writes_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(slopes, "FILE", tmp_path / "slopes.json")
    monkeypatch.setattr(sys, "argv", ["slopes", "--quick", "--only", "top_k", "criterion_f"])
    with ss.threads(1):
        assert slopes.main() == 0
    assert not slopes.FILE.exists()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["top_k", "criterion_f"]
