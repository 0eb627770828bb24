"""The doors of `import sfumato as sf` that the studio goes through."""
