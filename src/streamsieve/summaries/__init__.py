"""What is remembered of a stream of rows: small, exact where it can be, mergeable."""

from streamsieve.summaries.comoments import CoMoments as CoMoments
from streamsieve.summaries.moments import Moments as Moments

__all__ = ["CoMoments", "Moments"]
