"""What a run did and measured, as values: for the custodian, and narrowed to what may be published."""
