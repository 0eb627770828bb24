from sfumato.methods.pseudonymise import Pseudonymise

LAWFUL = [
    Pseudonymise(columns=["id"]),
    Pseudonymise(columns=["n", "h"], scope="interviews"),
    Pseudonymise(columns=["id"], scope="table", format="number"),
    Pseudonymise(columns=["g"], format="number"),
]
