"""Selectors for streams of rows over a large number of features.

================== ==============================================================================
screen             any criterion over any summary (``summarized``): the k best, or by p-value
                   (``choice_of_features``, ``looks``), by type of column (``typed_rows``), under ``drift/``
velocity_screen    mutual information, recomputed only for features that drift
ofs, partial_ofs,  linear models that learn row by row (``linear/``)
sofs, winnow_efs,
barda, fires,
mission
running_averages,  models of a covariance matrix (``covariance_models/``)
fsds
bootstrap          stability selection around any of them
================== ==============================================================================

What they share (life cycle, ranking, ledger, output, buffer, names) is in :mod:`streamsieve.base`.
"""

from streamsieve.rows.barda import BARDA as BARDA
from streamsieve.rows.bootstrap import Bootstrap as Bootstrap
from streamsieve.rows.fires import FIRES as FIRES
from streamsieve.rows.fsds import FSDS as FSDS
from streamsieve.rows.mission import MISSION as MISSION
from streamsieve.rows.ofs import OFS as OFS
from streamsieve.rows.partial_ofs import PartialOFS as PartialOFS
from streamsieve.rows.running_averages import RunningAverages as RunningAverages
from streamsieve.rows.screen import Screen as Screen
from streamsieve.rows.sofs import SOFS as SOFS
from streamsieve.rows.velocity_screen import VelocityScreen as VelocityScreen
from streamsieve.rows.winnow_efs import WinnowEFS as WinnowEFS

__all__ = [
    "BARDA",
    "FIRES",
    "FSDS",
    "MISSION",
    "OFS",
    "SOFS",
    "Bootstrap",
    "PartialOFS",
    "RunningAverages",
    "Screen",
    "VelocityScreen",
    "WinnowEFS",
]
