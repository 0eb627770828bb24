"""Deterministic anonymisation: each record becomes the centroid of its nearest neighbours within its stratum."""

from sfumato.methods.centroids.method import Centroids

__all__ = ["Centroids"]
