"""The study of scale: its merge tree keeps the certified error, and its page has every row."""

import pytest

from studies import scale


@pytest.mark.parametrize("parts", [1, 7, 8, 9, 500])
def test_a_tree_of_merges_keeps_the_certified_error(parts):
    tree = scale.merged_tree(parts, 120)
    assert tree.found <= tree.certified + 1e-12 <= 1e-3 + 1e-12
    nodes = [n for n, _ in tree.levels]
    assert nodes == sorted(nodes, reverse=True)
    assert not nodes or nodes[-1] == 1
    assert all(size > 0 for _, size in tree.levels)


def test_the_page_has_a_row_for_every_way_and_every_tree():
    found = [scale.Measured("moments", 100, 1e7, 32, 32), scale.Measured("quantiles", 1e6, 2e7, 8e4, 8e3)]
    text = scale.page(found, [scale.Tree(100, 50, [(13, 1e5), (2, 2e4), (1, 3e3)], 9e-4, 5e-4, 1.0)])
    assert (
        "| moments | 1e+14 | 1e+07 | 116 days | 2.78 hours | 32 | 64 MB | 64 kB | 64 GB | 0.064 s |" in text
    )
    assert "| 100 | 5,000 | 13, 2, 1 | 100 kB, 20 kB, 3 kB | 0.0009 | 0.0005 | 1 |" in text
