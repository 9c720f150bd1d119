"""What pytest leaves out where an optional package is not installed."""

from importlib.util import find_spec

NEEDS = {"pyspark": "src/streamsieve/adapters/spark.py", "river": "src/streamsieve/adapters/river.py"}
collect_ignore = [path for package, path in NEEDS.items() if find_spec(package) is None]
