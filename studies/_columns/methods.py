"""The selectors that are compared, by the name they have in tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamsieve as ss

#: What the papers and their programs do with tests over codes; ours have other defaults.
PAPER_RULE: dict[str, Any] = {"degrees": "nominal", "reliable": "nominal", "unreliable": "independent"}
#: The G2 test for whatever columns there are; numbers are cut into three bins of equal frequency.
G2: dict[str, Any] = {"test": "g2", "bins": 3, "p_value": "chi2"}
#: The p-values of the papers and their programs; ours are exact by default.
Z: dict[str, Any] = {"p_value": "z"}
#: Share of false ones among the columns found relevant, for all selectors with an online FDR rule.
FDR = 0.05
#: At most so many columns go into a decision tree; a gate alone may keep ten thousand.
WIDEST = 3000

#: Given whether columns are codes, a level, and SAOLA's own size.
Maker = Callable[[bool, float, int], Any]


def _measure(*, codes: bool) -> dict[str, Any]:
    return {"measure": "su"} if codes else {"measure": "fisher_z", **Z}


def _test(*, codes: bool) -> dict[str, Any]:
    return G2 if codes else {"test": "fisher_z", **Z}


def saola(codes: bool, alpha: float, _: int) -> Any:  # noqa: FBT001
    """Return SAOLA as its paper runs it."""
    return ss.SAOLA(alpha, **_measure(codes=codes))


#: Methods of this library that stand in every comparison, whatever a paper compares.
ALWAYS: dict[str, Maker] = {
    "SAOLA + ADDIS": lambda _codes, _alpha, _k: ss.SAOLA(FDR, fdr="addis", measure="fisher_z", **Z),
    "Fast-OSFS + ADDIS": lambda codes, _alpha, _k: ss.FastOSFS(FDR, fdr="addis", **_test(codes=codes)),
    "ADDIS": lambda _codes, _alpha, _k: ss.OnlineFDR(alpha=FDR, test="fisher_z", **Z),
    "TopK": lambda codes, _alpha, k: ss.TopK(max(1, k), **_measure(codes=codes)),
    "TopK, plain": lambda codes, _alpha, k: ss.TopK(max(1, k), redundancy_weight=0, **_measure(codes=codes)),
}

METHODS: dict[str, Maker] = {
    "SAOLA": saola,
    "SAOLA-max": lambda codes, alpha, _: ss.SAOLA(alpha, bound="max", **_measure(codes=codes)),
    "OSFS": lambda codes, alpha, _: ss.OSFS(alpha, **_test(codes=codes)),
    "Fast-OSFS": lambda codes, alpha, _: ss.FastOSFS(alpha, **_test(codes=codes)),
    "OSFS, paper's rule": lambda codes, alpha, _: ss.OSFS(alpha, **_test(codes=codes), **PAPER_RULE),
    "Fast-OSFS, paper's rule": lambda codes, alpha, _: ss.FastOSFS(alpha, **_test(codes=codes), **PAPER_RULE),
    "Alpha-investing": lambda *_: ss.AlphaInvesting(),
    "Alpha-investing, likelihood ratio": lambda *_: ss.AlphaInvesting(test_statistic="likelihood_ratio"),
    "Information-investing": lambda *_: ss.InformationInvesting(),
    "Streamwise RIC": lambda *_: ss.StreamwiseIC(),
    "Group-SAOLA, groups of 10": lambda codes, alpha, _: ss.GroupSAOLA(
        alpha, group_size=10, **_measure(codes=codes)
    ),
    **ALWAYS,
}

#: The methods of the paper of OSFS: G2 on columns of any kind.
BY_G2: dict[str, Maker] = {
    "OSFS, paper's rule": lambda _codes, alpha, _k: ss.OSFS(alpha, **G2, **PAPER_RULE),
    "Fast-OSFS, paper's rule": lambda _codes, alpha, _k: ss.FastOSFS(alpha, **G2, **PAPER_RULE),
    "OSFS": lambda _codes, alpha, _k: ss.OSFS(alpha, **G2),
    "Fast-OSFS": lambda _codes, alpha, _k: ss.FastOSFS(alpha, **G2),
    "Alpha-investing": METHODS["Alpha-investing"],
    "SAOLA": saola,
    **ALWAYS,
    "Fast-OSFS + ADDIS": lambda *_: ss.FastOSFS(FDR, fdr="addis", **G2),
}

EXPLAINED = f"""\
Beside the papers' methods, every table has these: SAOLA and Fast-OSFS whose relevance is decided by the
online FDR rule ADDIS at {FDR:g} (`fdr="addis"`), ADDIS alone (`OnlineFDR`, marginal tests), and the buffers
`TopK` (streaming mRMR by swap) and "TopK, plain" (`redundancy_weight=0`, the exact top k), both with as many
columns as SAOLA kept on the same rows. SAOLA's gate needs p-values, so with codes it stands on Fisher's z.
"""
