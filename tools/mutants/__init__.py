"""How many small faults of the source do the tests catch?  Run ``python -m tools.mutants``."""
