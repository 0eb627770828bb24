"""What makes a class, or a whole release, safe: one idea to a file."""
