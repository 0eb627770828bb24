"""The plan: what a file holds, which steps are taken, what must hold; drafted for a table, and tuned by its numbers."""
