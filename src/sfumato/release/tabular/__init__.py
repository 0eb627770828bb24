"""Tables of totals as they are handed out, as one file or as a folder with papers, and read again."""
