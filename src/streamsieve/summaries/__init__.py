"""What is remembered of a stream of rows: small, exact where it can be, mergeable."""

from streamsieve.summaries.comoments import CoMoments as CoMoments
from streamsieve.summaries.contingency import Contingency as Contingency
from streamsieve.summaries.moments import Moments as Moments
from streamsieve.summaries.products import Products as Products
from streamsieve.summaries.quantiles import Quantiles as Quantiles

__all__ = ["CoMoments", "Contingency", "Moments", "Products", "Quantiles"]
