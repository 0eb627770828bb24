"""The release as a folder: written whole or not at all, described for programs and people, and opened again."""
