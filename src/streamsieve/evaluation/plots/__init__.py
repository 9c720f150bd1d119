"""Plots: each function takes plain numbers and returns a matplotlib figure, readable without color.

========== ==================================================================================
comparison methods side by side: critical differences of mean ranks, and stability
curves     performance by size, column streams, growth of time, orders of arrival
relevant   relevant features found over time, by number selected, by half-life
scores     scores of features over time
style      lines that differ in print, axes, legends; ``file`` writes figures atomically
========== ==================================================================================
"""

from streamsieve.evaluation.plots.comparison import critical_difference, stability_bars
from streamsieve.evaluation.plots.curves import column_stream, growth, orders, performance
from streamsieve.evaluation.plots.file import FORMATS, check_path, save
from streamsieve.evaluation.plots.relevant import by_size, detection, drift, heat_map
from streamsieve.evaluation.plots.scores import score_map, scores

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
