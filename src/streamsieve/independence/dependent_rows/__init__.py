"""Tests of correlation over rows that are not independent: time series, and repeated rows of a subject.

=========== ==================================================================================
correlation what the tests share: blocks of columns, and conditioning sets
serial      rows in time order: the effective number of rows
group_means groups that have one target each: the groups are the independent rows
clustered   groups within which the target varies: the cluster-robust t test
detector    whether the order of the rows looks like a time series
=========== ==================================================================================
"""

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
