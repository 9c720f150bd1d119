"""Evaluation: protocols that compare selectors, tests of significance, and plots.

============= ========================================================
protocols/    how selectors and learners are compared
candidates/   what is compared: selectors and learners
engine/       how protocols run: jobs, stored results, folds, settings
measures/     accuracy, stability, agreement, memory
reports/      tables, curves, recommendations, HTML pages
significance/ statistical tests over results
plots/        figures
============= ========================================================
"""

from streamsieve.evaluation import plots, significance
from streamsieve.evaluation.candidates.learners import learner_names
from streamsieve.evaluation.candidates.selectors import selector_names
from streamsieve.evaluation.engine.jobs import Failure
from streamsieve.evaluation.engine.sizes import size_grid
from streamsieve.evaluation.measures.agreement import (
    Recovered,
    rank_disagreement,
    recovered,
    score_difference,
)
from streamsieve.evaluation.measures.stability import Stability, jaccard, kuncheva, stability
from streamsieve.evaluation.protocols.prequential import prequential
from streamsieve.evaluation.protocols.recovery import online_offline, recovery
from streamsieve.evaluation.protocols.screening import screening_protocol
from streamsieve.evaluation.protocols.streaming import streaming_protocol
from streamsieve.evaluation.reports.curves import Combinations, Curve, combinations, curves, peaks
from streamsieve.evaluation.reports.recommendation import Recommendation, recommend
from streamsieve.evaluation.reports.report import Report
from streamsieve.evaluation.reports.table import Table
from streamsieve.evaluation.reports.track import ScreenTrack, Track, detection_curve, track
from streamsieve.exceptions import ProtocolError

__all__ = [
    "Combinations",
    "Curve",
    "Failure",
    "ProtocolError",
    "Recommendation",
    "Recovered",
    "Report",
    "ScreenTrack",
    "Stability",
    "Table",
    "Track",
    "combinations",
    "curves",
    "detection_curve",
    "jaccard",
    "kuncheva",
    "learner_names",
    "online_offline",
    "peaks",
    "plots",
    "prequential",
    "rank_disagreement",
    "recommend",
    "recovered",
    "recovery",
    "score_difference",
    "screening_protocol",
    "selector_names",
    "significance",
    "size_grid",
    "stability",
    "streaming_protocol",
    "track",
]
