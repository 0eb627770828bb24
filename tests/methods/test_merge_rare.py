from sfumato.methods.merge_rare import MergeRare

LAWFUL = [MergeRare(columns=["g", "h"], min_count=20), MergeRare(columns=["h"], min_count=20, into="rest")]
