"""`sfumato gate`: what may be told to whom, decided with proofs and remembered."""
