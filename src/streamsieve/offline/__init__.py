"""Offline selectors, for which the whole matrix is available: baselines for streaming selectors.

========================= ==============================================
relief, relieff, rrelieff nearest neighbors
mrmr, fcbf                relevance and redundancy by mutual information
lars, spfs                features entering a regression
fgm, gdm, stump_boosting  support vector machines, boosting
spec, inf_fs, trace_ratio graphs of rows or features, scatter of classes
hiton                     parents and children of the target
iamb                      the Markov blanket of the target, spouses included
shared/                   parts of several methods
========================= ==============================================
"""

from streamsieve.offline.fcbf import FCBF as FCBF
from streamsieve.offline.fgm import FGM as FGM
from streamsieve.offline.gdm import GDM as GDM
from streamsieve.offline.hiton import HITONPC as HITONPC
from streamsieve.offline.iamb import IAMB as IAMB
from streamsieve.offline.iamb import InterIAMB as InterIAMB
from streamsieve.offline.inf_fs import InfFS as InfFS
from streamsieve.offline.lars import LARS as LARS
from streamsieve.offline.mrmr import MRMR as MRMR
from streamsieve.offline.relief import Relief as Relief
from streamsieve.offline.relieff import ReliefF as ReliefF
from streamsieve.offline.rrelieff import RReliefF as RReliefF
from streamsieve.offline.spec import SPEC as SPEC
from streamsieve.offline.spfs import SPFS as SPFS
from streamsieve.offline.stump_boosting import StumpBoosting as StumpBoosting
from streamsieve.offline.trace_ratio import TraceRatio as TraceRatio

__all__ = [
    "FCBF",
    "FGM",
    "GDM",
    "HITONPC",
    "IAMB",
    "LARS",
    "MRMR",
    "SPEC",
    "SPFS",
    "InfFS",
    "InterIAMB",
    "RReliefF",
    "Relief",
    "ReliefF",
    "StumpBoosting",
    "TraceRatio",
]
