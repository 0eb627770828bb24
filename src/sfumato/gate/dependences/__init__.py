"""Dependences between columns: combinations of which the data themselves tell that they cannot be."""
