"""Faces of other libraries, for our selectors."""
