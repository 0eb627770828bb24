"""Engines: where the rows of a data set are kept and how questions about them are answered."""
