"""Tests of correlation over rows that are not independent: time series, and repeated rows of a subject."""

from streamsieve.independence.dependent_rows.clustered import (
    ClusterRobustCorrelation as ClusterRobustCorrelation,
)
from streamsieve.independence.dependent_rows.correlation import DependentRowsTest as DependentRowsTest
from streamsieve.independence.dependent_rows.detector import autocorrelated as autocorrelated
from streamsieve.independence.dependent_rows.group_means import GroupMeans as GroupMeans
from streamsieve.independence.dependent_rows.serial import SerialCorrelation as SerialCorrelation
from streamsieve.independence.dependent_rows.serial import default_lag as default_lag

__all__ = [
    "ClusterRobustCorrelation",
    "DependentRowsTest",
    "GroupMeans",
    "SerialCorrelation",
    "autocorrelated",
    "default_lag",
]
