"""Rounding of tables."""
