"""The web: a shell that two faces share, and the faces. It decides nothing and computes nothing."""
