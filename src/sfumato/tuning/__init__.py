"""Find the least protection that meets limits."""
