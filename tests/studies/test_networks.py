"""Networks are read and sampled as their tables say, and the study runs on what is there."""

import gzip

import numpy as np

from studies.__main__ import main
from studies.networks import _bif

TEXT = """
network small { }
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 3 ] { low, mid, high }; }
variable c { type discrete [ 2 ] { on, off }; }
probability ( a ) { table 0.2, 0.8; }
probability ( c | a, b ) {
  (yes, low) 1.0, 0.0; (no, low) 0.0, 1.0;
  (yes, mid) 0.5, 0.5; (no, mid) 0.3, 0.7;
  (yes, high) 0.9, 0.1; (no, high) 0.6, 0.4;
}
probability ( b ) { table 0.5, 0.25, 0.25; }
"""


def test_a_network_is_read_and_sampled():
    nodes = _bif.parse(TEXT)
    assert [*nodes] == ["a", "b", "c"]
    assert nodes["c"].parents == ("a", "b")
    assert nodes["c"].probability[1, 1].tolist() == [0.3, 0.7]
    assert _bif.graph(nodes).tolist() == [[False, False, True], [False, False, True], [False] * 3]
    X = _bif.sample(nodes, 40_000, seed=1)
    np.testing.assert_allclose(np.bincount(X[:, 1].astype(int)) / 40_000, [0.5, 0.25, 0.25], atol=0.01)
    here = (X[:, 0] == 1) & (X[:, 1] == 2)
    assert abs(np.mean(X[here, 2]) - 0.4) < 0.02
    assert np.all(X[(X[:, 0] == 0) & (X[:, 1] == 0), 2] == 0)


def test_the_study_runs_on_a_folder_of_networks(tmp_path, monkeypatch):
    for name in ("alarm", "child"):
        (tmp_path / f"{name}.bif.gz").write_bytes(gzip.compress(TEXT.encode()))
    monkeypatch.setenv("STREAMSIEVE_NETWORKS", str(tmp_path))
    assert main(["networks", "--quick", "--out", str(tmp_path / "out")]) == 0
    assert 'InterIAMB(test="g2")' in (tmp_path / "out" / "NETWORKS.md").read_text()


def test_networks_that_are_not_there_are_skipped_aloud(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STREAMSIEVE_NETWORKS", str(tmp_path))
    assert main(["networks", "--quick", "--out", str(tmp_path / "out")]) == 0
    assert "SKIPPED networks" in capsys.readouterr().out
