"""What several measures share where rows are not in memory: how they ask, and what they ask of all records."""
