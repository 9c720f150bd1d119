"""The study of planted features runs at a tiny size, writes a whole page, and goes on where it stopped."""

import re

import numpy as np
import pytest
from PIL import Image

from studies import recovery
from studies._desk import Desk


def test_it_runs_and_goes_on_where_it_stopped(tmp_path):
    said = []
    page = recovery.run(Desk("recovery", tmp_path, quick=True, say=said.append))
    assert "nan" not in page
    assert "the figures mean nothing" in page
    for name in ("recovery_classes", "recovery_numbers"):
        assert f"images/{name}.png" in page
        with Image.open(tmp_path / "images" / f"{name}.png") as image:
            image.verify()
    blocks = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        assert len({line.count("|") for line in block.splitlines()}) == 1, block
    assert len(said) == 2 * len(recovery.QUICK.rows) + 2
    again = []
    assert recovery.run(Desk("recovery", tmp_path, quick=True, say=again.append)) == page
    assert again == []


def test_the_design_is_that_of_the_paper():
    X, f, support = recovery.design(20_000, 60, 4, 0)
    assert support.tolist() == [9, 19, 29, 39]
    off_diagonal = np.corrcoef(X, rowvar=False)[np.triu_indices(60, 1)]
    assert off_diagonal.mean() == pytest.approx(0.5, abs=0.02)
    np.testing.assert_allclose(f, X[:, support].sum(axis=1))
    assert recovery.share_found([9, 29, 1, 2], support) == 0.5
    assert recovery.share_found([], support) == 0.0


def test_every_method_chooses_as_many_as_it_is_told():
    X, f, _ = recovery.design(120, 40, 4, 1)
    for kind, y in (("classes", f > 0), ("numbers", f)):
        for name, choose in recovery.METHODS[kind].items():
            chosen = recovery._quietly(choose, X, y, 4)
            assert len(set(np.asarray(chosen).tolist())) == 4, name
