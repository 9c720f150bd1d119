"""Data sets by name: those that come with scikit-learn, a folder of your own, and OpenML."""

from streamsieve.datasets._dataset import Dataset as Dataset
from streamsieve.datasets._load import available as available
from streamsieve.datasets._load import load as load
from streamsieve.datasets._manifest import Entry as Entry

__all__ = ["Dataset", "Entry", "available", "load"]
