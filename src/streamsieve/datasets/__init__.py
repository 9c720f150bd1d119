"""Data sets by name: those of scikit-learn, a folder of the user, and OpenML.

======== ==============================
loading  ``load`` and ``available``, through scikit-learn
manifest the data sets known by name
dataset  rows, target and provenance
local    data sets in a folder
======== ==============================
"""

from streamsieve.datasets.dataset import Dataset
from streamsieve.datasets.loading import available, load
from streamsieve.datasets.manifest import Entry

__all__ = ["Dataset", "Entry", "available", "load"]
