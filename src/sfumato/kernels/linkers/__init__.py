"""Linkers: which of many released records an intruder takes for a person, over all pairs and without blocking."""
