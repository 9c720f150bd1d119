"""Selections over time: what screens showed while a stream went by, and pictures of it."""

from streamsieve.evaluation import plots as plots
from streamsieve.evaluation.track import ScreenTrack as ScreenTrack
from streamsieve.evaluation.track import Track as Track
from streamsieve.evaluation.track import found as found
from streamsieve.evaluation.track import track as track

__all__ = ["ScreenTrack", "Track", "found", "plots", "track"]
