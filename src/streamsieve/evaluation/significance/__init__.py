"""Is the difference real?  Tests over data sets, over runs, and the tables made of them."""

from streamsieve.evaluation.significance.counting import Counts as Counts
from streamsieve.evaluation.significance.counting import count_groups as count_groups
from streamsieve.evaluation.significance.friedman import Friedman as Friedman
from streamsieve.evaluation.significance.friedman import friedman as friedman
from streamsieve.evaluation.significance.groups import Groups as Groups
from streamsieve.evaluation.significance.groups import at_peak as at_peak
from streamsieve.evaluation.significance.groups import table_of_groups as table_of_groups
from streamsieve.evaluation.significance.nemenyi import Nemenyi as Nemenyi
from streamsieve.evaluation.significance.nemenyi import critical_difference as critical_difference
from streamsieve.evaluation.significance.nemenyi import nemenyi as nemenyi
from streamsieve.evaluation.significance.paired import PairedT as PairedT
from streamsieve.evaluation.significance.paired import WinTieLoss as WinTieLoss
from streamsieve.evaluation.significance.paired import paired_t as paired_t
from streamsieve.evaluation.significance.paired import pairwise_p_values as pairwise_p_values
from streamsieve.evaluation.significance.paired import win_tie_loss as win_tie_loss
from streamsieve.evaluation.significance.wilcoxon import Comparison as Comparison
from streamsieve.evaluation.significance.wilcoxon import SignedRank as SignedRank
from streamsieve.evaluation.significance.wilcoxon import Wilcoxon as Wilcoxon
from streamsieve.evaluation.significance.wilcoxon import holm as holm
from streamsieve.evaluation.significance.wilcoxon import signed_rank as signed_rank
from streamsieve.evaluation.significance.wilcoxon import wilcoxon as wilcoxon

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
    "at_peak",
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
