"""The version of the benchmark: cases, measures and seeds of a version never change."""

VERSION = "v1"
