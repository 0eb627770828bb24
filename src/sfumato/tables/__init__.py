"""Protected tables."""
