"""Tests of significance over data sets and over runs, and the tables made of them.

======== ===================================================================================
scores   scores of several methods on several data sets: checked and ranked
friedman do several methods differ at all?  ``nemenyi``: which pairs do
wilcoxon signed-rank tests with Holm's correction, against a control or in all pairs
paired   paired t-tests over runs, and wins, ties and losses
groups   combinations of a screen and a learner that perform alike on one data set
counting counts of these groups over data sets
======== ===================================================================================
"""

from streamsieve.evaluation.significance.counting import Counts, count_groups
from streamsieve.evaluation.significance.friedman import Friedman, friedman
from streamsieve.evaluation.significance.groups import Groups, table_of_groups
from streamsieve.evaluation.significance.nemenyi import Nemenyi, critical_difference, nemenyi
from streamsieve.evaluation.significance.paired import (
    PairedT,
    WinTieLoss,
    paired_t,
    pairwise_p_values,
    win_tie_loss,
)
from streamsieve.evaluation.significance.wilcoxon import (
    Comparison,
    SignedRank,
    Wilcoxon,
    holm,
    signed_rank,
    wilcoxon,
)

__all__ = [
    "Comparison",
    "Counts",
    "Friedman",
    "Groups",
    "Nemenyi",
    "PairedT",
    "SignedRank",
    "Wilcoxon",
    "WinTieLoss",
    "count_groups",
    "critical_difference",
    "friedman",
    "holm",
    "nemenyi",
    "paired_t",
    "pairwise_p_values",
    "signed_rank",
    "table_of_groups",
    "wilcoxon",
    "win_tie_loss",
]
