"""What a gate does, in parts: asking, people, stewards' work, proving; `sfumato.gate.service` puts them together."""
