"""Tell which selector to trust: protocols that compare them, tests, measures of agreement, and pictures."""

from streamsieve.evaluation import plots as plots
from streamsieve.evaluation import significance as significance
from streamsieve.evaluation._cells import Failure as Failure
from streamsieve.evaluation._learners import learner_names as learner_names
from streamsieve.evaluation._selectors import selector_names as selector_names
from streamsieve.evaluation._sizes import size_grid as size_grid
from streamsieve.evaluation._table import Table as Table
from streamsieve.evaluation.agreement import Recovered as Recovered
from streamsieve.evaluation.agreement import detection_rate as detection_rate
from streamsieve.evaluation.agreement import misranked as misranked
from streamsieve.evaluation.agreement import recovered as recovered
from streamsieve.evaluation.agreement import score_difference as score_difference
from streamsieve.evaluation.prequential import prequential as prequential
from streamsieve.evaluation.recovery import online_offline as online_offline
from streamsieve.evaluation.recovery import recovery as recovery
from streamsieve.evaluation.report import Report as Report
from streamsieve.evaluation.screening import screening_protocol as screening_protocol
from streamsieve.evaluation.stability import Stability as Stability
from streamsieve.evaluation.stability import jaccard as jaccard
from streamsieve.evaluation.stability import kuncheva as kuncheva
from streamsieve.evaluation.stability import stability as stability
from streamsieve.evaluation.streaming import streaming_protocol as streaming_protocol
from streamsieve.evaluation.track import ScreenTrack as ScreenTrack
from streamsieve.evaluation.track import Track as Track
from streamsieve.evaluation.track import found as found
from streamsieve.evaluation.track import track as track
from streamsieve.evaluation.verdict import Verdict as Verdict
from streamsieve.evaluation.verdict import verdict as verdict
from streamsieve.evaluation.views import Combinations as Combinations
from streamsieve.evaluation.views import Curve as Curve
from streamsieve.evaluation.views import combinations as combinations
from streamsieve.evaluation.views import curves as curves
from streamsieve.evaluation.views import masks as masks
from streamsieve.evaluation.views import peaks as peaks
from streamsieve.exceptions import ProtocolError as ProtocolError

__all__ = [
    "Combinations",
    "Curve",
    "Failure",
    "ProtocolError",
    "Recovered",
    "Report",
    "ScreenTrack",
    "Stability",
    "Table",
    "Track",
    "Verdict",
    "combinations",
    "curves",
    "detection_rate",
    "found",
    "jaccard",
    "kuncheva",
    "learner_names",
    "masks",
    "misranked",
    "online_offline",
    "peaks",
    "plots",
    "prequential",
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
    "verdict",
]
