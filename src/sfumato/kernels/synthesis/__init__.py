"""Models from which values are drawn in the place of true ones."""
