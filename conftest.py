"""What pytest leaves out where an optional package is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("pyspark") else ["src/streamsieve/adapters/spark.py"]
