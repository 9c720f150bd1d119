"""Selectors for columns that stream in over fixed rows.

============================================ ================================================================
block -> test -> level -> redundancy rule    ``composition``; ``blanket_composition`` adds spouses
============================================ ================================================================
saola, osfs, top_k                           pairwise, Markov-blanket, top-k rule (``redundancy/``);
                                             ``markov_blanket_selector`` is what OSFS and Fast-OSFS share
online_fdr                                   no redundancy rule: a level per column
ossfs_dd, interaction_scan                   rules that defer decisions (``deferred``)
alpha_investing, information_investing,      a regression model (``models/``) that columns join by a test,
streamwise_ic, grafting, online_substitution an information criterion, a gradient, or substitution
group_saola, ogfs, dofs                      columns in groups (``groups/``)
two_way/                                     columns and rows at once, around another selector
============================================ ================================================================
"""

from streamsieve.columns.alpha_investing import AlphaInvesting as AlphaInvesting
from streamsieve.columns.dofs import DOFS as DOFS
from streamsieve.columns.grafting import Grafting as Grafting
from streamsieve.columns.group_saola import GroupSAOLA as GroupSAOLA
from streamsieve.columns.information_investing import InformationInvesting as InformationInvesting
from streamsieve.columns.interaction_scan import InteractionScan as InteractionScan
from streamsieve.columns.ogfs import OGFS as OGFS
from streamsieve.columns.online_fdr import OnlineFDR as OnlineFDR
from streamsieve.columns.online_substitution import OnlineSubstitution as OnlineSubstitution
from streamsieve.columns.osfs import OSFS as OSFS
from streamsieve.columns.osfs import FastOSFS as FastOSFS
from streamsieve.columns.ossfs_dd import OSSFSDD as OSSFSDD
from streamsieve.columns.saola import SAOLA as SAOLA
from streamsieve.columns.streamwise_ic import StreamwiseIC as StreamwiseIC
from streamsieve.columns.top_k import TopK as TopK
from streamsieve.columns.two_way import TwoWay as TwoWay

__all__ = [
    "DOFS",
    "OGFS",
    "OSFS",
    "OSSFSDD",
    "SAOLA",
    "AlphaInvesting",
    "FastOSFS",
    "Grafting",
    "GroupSAOLA",
    "InformationInvesting",
    "InteractionScan",
    "OnlineFDR",
    "OnlineSubstitution",
    "StreamwiseIC",
    "TopK",
    "TwoWay",
]
