"""Pictures: each function takes plain numbers and returns a matplotlib figure, readable in grey."""

from streamsieve.evaluation.plots._file import FORMATS as FORMATS
from streamsieve.evaluation.plots._file import check_path as check_path
from streamsieve.evaluation.plots._file import save as save
from streamsieve.evaluation.plots.by_size import by_size as by_size
from streamsieve.evaluation.plots.detection import detection as detection
from streamsieve.evaluation.plots.drift import drift as drift
from streamsieve.evaluation.plots.heat_map import heat_map as heat_map
from streamsieve.evaluation.plots.scores import scores as scores

__all__ = ["FORMATS", "by_size", "check_path", "detection", "drift", "heat_map", "save", "scores"]
