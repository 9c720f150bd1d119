"""Where batches of rows and blocks of columns come from."""

from streamsieve.sources._open import open as open  # noqa: A004 - meant to read ss.open
from streamsieve.sources.arrays import ArraySource as ArraySource
from streamsieve.sources.arrow import ArrowSource as ArrowSource
from streamsieve.sources.drift import DriftingStream as DriftingStream
from streamsieve.sources.generated import Features as Features
from streamsieve.sources.svmlight import SvmlightSource as SvmlightSource

__all__ = ["ArraySource", "ArrowSource", "DriftingStream", "Features", "SvmlightSource", "open"]
