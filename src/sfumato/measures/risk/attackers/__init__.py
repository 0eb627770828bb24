"""Who attacks a release, what they know of its noise, and how they search."""
