from sfumato.methods.truncate_code import TruncateCode

LAWFUL = [
    TruncateCode(columns=["n", "g"], keep=1),
    TruncateCode(columns=["n"], keep=1, scheme="isco"),
    TruncateCode(columns=["n", "h"], drop=1, invalid="keep"),
]
