"""Check what would be released: ``python -m tools.release``."""
