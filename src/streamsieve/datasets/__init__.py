"""Data sets by name: those that come with scikit-learn, a folder of your own, and OpenML."""

from streamsieve.datasets.dataset import Dataset as Dataset
from streamsieve.datasets.loading import available as available
from streamsieve.datasets.loading import load as load
from streamsieve.datasets.manifest import Entry as Entry

__all__ = ["Dataset", "Entry", "available", "load"]
