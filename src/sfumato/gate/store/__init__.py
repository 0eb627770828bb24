"""The gate's store: tables of a database that hold the ledger, the releases and what follows from them."""
