"""Measures of what a protected table still says, one family a file: functions on arrays or frames, and `findings`."""

__all__: list[str] = []
