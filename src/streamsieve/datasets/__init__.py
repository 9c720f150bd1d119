"""Data sets by name: those of scikit-learn, a folder of the user, and OpenML.

======== ==============================
loading  ``load`` and ``available``, through scikit-learn
manifest the data sets known by name
dataset  rows, target and provenance
local    data sets in a folder
======== ==============================
"""

from streamsieve.datasets.dataset import Dataset as Dataset
from streamsieve.datasets.loading import available as available
from streamsieve.datasets.loading import load as load
from streamsieve.datasets.manifest import Entry as Entry

__all__ = ["Dataset", "Entry", "available", "load"]
