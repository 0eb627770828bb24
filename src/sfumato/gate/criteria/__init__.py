"""What must hold of all that somebody would know; a file for each criterion."""
