"""The selectors that are ranked, by the name they have in tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamsieve as ss

#: The level of the online FDR rules, as in the earlier ranking.
FDR = 0.1
#: Groups are this many columns in a row, for the selectors that look at groups.
GROUP = 10
#: The p-values of correlations of the earlier ranking.
Z: dict[str, Any] = {"p_value": "z"}

#: Those of the earlier ranking that this library has.
EARLIER: dict[str, Callable[[], Any]] = {
    "TopK 15": lambda: ss.TopK(15, **Z, measure="fisher_z"),
    "TopK 15 plain": lambda: ss.TopK(15, redundancy_weight=0, **Z, measure="fisher_z"),
    "TopK 50 half": lambda: ss.TopK(50, redundancy_weight=0.5, **Z, measure="fisher_z"),
    "TopK 50 plain": lambda: ss.TopK(50, redundancy_weight=0, **Z, measure="fisher_z"),
    "OSSFS-DD": lambda: ss.OSSFSDD(**Z),
    "OSSFS-DD no floor": lambda: ss.OSSFSDD(floor=0, **Z),
    "OSSFS-DD text no floor": lambda: ss.OSSFSDD(floor=0, variant="paper", **Z),
    "marginal ADDIS": lambda: ss.OnlineFDR("addis", alpha=FDR, **Z, test="fisher_z"),
    "marginal LORD++": lambda: ss.OnlineFDR("lord", alpha=FDR, **Z, test="fisher_z"),
    "conditional SAFFRON": lambda: ss.OnlineFDR("saffron", alpha=FDR, scope="conditional", p_value="t"),
    "Alpha-investing": ss.AlphaInvesting,
    "SAOLA": lambda: ss.SAOLA(**Z, measure="fisher_z"),
    "SAOLA + ADDIS": lambda: ss.SAOLA(FDR, fdr="addis", **Z, measure="fisher_z"),
    "Fast-OSFS": lambda: ss.FastOSFS(**Z, test="fisher_z"),
}

#: Those that came since.
LATER: dict[str, Callable[[], Any]] = {
    "OSSFS-DD text": lambda: ss.OSSFSDD(variant="paper", **Z),
    "OSFS": lambda: ss.OSFS(**Z, test="fisher_z"),
    "Group-SAOLA": lambda: ss.GroupSAOLA(group_size=GROUP, **Z),
    "Information-investing": ss.InformationInvesting,
    "Streamwise RIC": ss.StreamwiseIC,
    "Grafting": lambda: ss.Grafting(0.15),
    "Substitution 15": lambda: ss.OnlineSubstitution(15),
    "Substitution 50": lambda: ss.OnlineSubstitution(50),
    "OGFS": lambda: ss.OGFS(group_size=GROUP),
    "DOFS": lambda: ss.DOFS(group_size=GROUP),
}

RANKED = EARLIER | LATER
#: What every selector is compared with.
RIVAL = "SAOLA"
#: No selection at all: beside the ranking, not in it.
ALL = "all columns"

EXPLAINED = f"""\
All methods test correlations (Fisher's z) and have their default parameters, with these exceptions. "TopK"
keeps 15 or 50 columns by streaming mRMR ("half": `redundancy_weight=0.5`); "plain" ignores redundancy and is
the exact top k. OSSFS-DD follows the authors' code and keeps at least 15 columns, "no floor" without that
minimum; "text" follows their paper instead. ADDIS, LORD++ and SAFFRON are `OnlineFDR` at {FDR:g}: "marginal"
tests a column alone, "conditional" given the kept columns; "SAOLA + ADDIS" is SAOLA with `fdr="addis"` at
{FDR:g}. Substitution is `OnlineSubstitution` of 15 or 50 columns. Group-SAOLA, OGFS and DOFS take {GROUP}
consecutive columns as a group, which are unrelated in a random order; DOFS has other random draws there.
"""
