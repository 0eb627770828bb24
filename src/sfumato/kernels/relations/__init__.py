"""Relations between the columns of a table that hold in all records, or nearly all."""
