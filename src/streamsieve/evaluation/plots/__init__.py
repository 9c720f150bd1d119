"""Pictures: each function takes plain numbers and returns a matplotlib figure, readable in grey."""

from streamsieve.evaluation.plots.by_size import by_size as by_size
from streamsieve.evaluation.plots.column_stream import column_stream as column_stream
from streamsieve.evaluation.plots.critical_difference import critical_difference as critical_difference
from streamsieve.evaluation.plots.detection import detection as detection
from streamsieve.evaluation.plots.drift import drift as drift
from streamsieve.evaluation.plots.file import FORMATS as FORMATS
from streamsieve.evaluation.plots.file import check_path as check_path
from streamsieve.evaluation.plots.file import save as save
from streamsieve.evaluation.plots.growth import growth as growth
from streamsieve.evaluation.plots.heat_map import heat_map as heat_map
from streamsieve.evaluation.plots.orders import orders as orders
from streamsieve.evaluation.plots.performance import performance as performance
from streamsieve.evaluation.plots.score_map import score_map as score_map
from streamsieve.evaluation.plots.scores import scores as scores
from streamsieve.evaluation.plots.stability_bars import stability_bars as stability_bars

__all__ = [
    "FORMATS",
    "by_size",
    "check_path",
    "column_stream",
    "critical_difference",
    "detection",
    "drift",
    "growth",
    "heat_map",
    "orders",
    "performance",
    "save",
    "score_map",
    "scores",
    "stability_bars",
]
