"""Generalise keys over their hierarchies until classes are safe, with the least loss: by columns or by cells."""
