"""Who is near whom: trees, groups of similar records, and how many records hide each of them."""
