"""Turning centroids of nearest neighbours back into the values that they were made of."""
