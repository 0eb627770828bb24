"""The doors of the gate: REST, sessions and tokens, in front of `sfumato.gate.service.Gate`."""
