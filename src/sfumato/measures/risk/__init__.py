"""Measures of disclosure risk, one a file: a function on arrays or frames, and `findings` that gives report lines."""

__all__: list[str] = []
