"""Generalise keys over their hierarchies until classes are safe, with the least loss: whole columns, or cell by cell."""
