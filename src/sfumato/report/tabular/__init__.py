"""What is said of a table of totals that is handed out: its papers, and what its page shows."""
