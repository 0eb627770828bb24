"""The Python door: what `import sfumato as sf` offers, one file to a door."""
