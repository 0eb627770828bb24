"""`sfumato table`: tables of counts and sums, built, protected and audited."""
