"""Differencing: what a release tells beside the one before it."""
