"""What named intruders reach against a release: a neighbour, a file to match, a trawl, a claim."""
