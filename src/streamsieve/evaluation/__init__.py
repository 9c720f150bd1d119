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

from streamsieve.evaluation import plots as plots
from streamsieve.evaluation import significance as significance
from streamsieve.evaluation.candidates.learners import learner_names as learner_names
from streamsieve.evaluation.candidates.selectors import selector_names as selector_names
from streamsieve.evaluation.engine.jobs import Failure as Failure
from streamsieve.evaluation.engine.sizes import size_grid as size_grid
from streamsieve.evaluation.measures.agreement import Recovered as Recovered
from streamsieve.evaluation.measures.agreement import detection_rate as detection_rate
from streamsieve.evaluation.measures.agreement import rank_disagreement as rank_disagreement
from streamsieve.evaluation.measures.agreement import recovered as recovered
from streamsieve.evaluation.measures.agreement import score_difference as score_difference
from streamsieve.evaluation.measures.stability import Stability as Stability
from streamsieve.evaluation.measures.stability import jaccard as jaccard
from streamsieve.evaluation.measures.stability import kuncheva as kuncheva
from streamsieve.evaluation.measures.stability import stability as stability
from streamsieve.evaluation.protocols.prequential import prequential as prequential
from streamsieve.evaluation.protocols.recovery import online_offline as online_offline
from streamsieve.evaluation.protocols.recovery import recovery as recovery
from streamsieve.evaluation.protocols.screening import screening_protocol as screening_protocol
from streamsieve.evaluation.protocols.streaming import streaming_protocol as streaming_protocol
from streamsieve.evaluation.reports.curves import Combinations as Combinations
from streamsieve.evaluation.reports.curves import Curve as Curve
from streamsieve.evaluation.reports.curves import combinations as combinations
from streamsieve.evaluation.reports.curves import curves as curves
from streamsieve.evaluation.reports.curves import masks as masks
from streamsieve.evaluation.reports.curves import peaks as peaks
from streamsieve.evaluation.reports.recommendation import Recommendation as Recommendation
from streamsieve.evaluation.reports.recommendation import recommend as recommend
from streamsieve.evaluation.reports.report import Report as Report
from streamsieve.evaluation.reports.table import Table as Table
from streamsieve.evaluation.reports.track import ScreenTrack as ScreenTrack
from streamsieve.evaluation.reports.track import Track as Track
from streamsieve.evaluation.reports.track import detection_curve as detection_curve
from streamsieve.evaluation.reports.track import track as track
from streamsieve.exceptions import ProtocolError as ProtocolError

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
    "detection_rate",
    "jaccard",
    "kuncheva",
    "learner_names",
    "masks",
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
