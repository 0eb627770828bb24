"""Releases of tables that are not in memory: the same plan, run where the rows are, and written in parts."""
