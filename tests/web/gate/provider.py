"""An identity provider on this machine, for tests: it asks nobody, and checks what a client proves."""

import base64
import hashlib
import json
import secrets
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey


@cache
def usual_key() -> RSAKey:
    """What a provider signs with."""
    return RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"}, private=True)


class Provider:
    """Serves until it is closed.

    `claims` go into every statement, over what belongs there; `key` signs it.
    """

    def __init__(self) -> None:
        self.key = self.known_key = usual_key()
        self.header = {"alg": "RS256", "kid": "1"}
        self.claims: dict = {}
        self.about: dict = {}
        self.codes: dict[str, dict] = {}
        self.seen: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def logs_in(self, address: str, name: str) -> dict[str, str]:
        """What somebody's browser brings back who was led to an address, and is known there by a name."""
        asked = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
        code = secrets.token_hex(8)
        self.codes[code] = asked | {"name": name}
        return {"state": asked["state"], "code": code}

    def statement(self, asked: dict) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "1",
            "aud": asked["client_id"],
            "iat": now,
            "exp": now + 60,
            "nonce": asked["nonce"],
            "preferred_username": asked["name"],
        }
        own = {key: value for key, value in (claims | self.claims).items() if value is not None}
        return jwt.encode(self.header, own, self.key)

    def handler(self):
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def say(self, value, status=200):
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                at = provider.issuer
                if self.path == "/jwks":
                    self.say({"keys": [provider.known_key.as_dict(private=False)]})
                else:
                    own = {
                        "issuer": at,
                        "authorization_endpoint": f"{at}/authorize",
                        "token_endpoint": f"{at}/token",
                        "jwks_uri": f"{at}/jwks",
                    }
                    self.say(own | provider.about)

            def do_POST(self):
                given = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                provider.seen.append(self.headers.get("Authorization", ""))
                asked = provider.codes.pop(given.get("code", [""])[0], None)
                verifier = given.get("code_verifier", [""])[0].encode()
                challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier).digest()).decode().rstrip("=")
                if (
                    asked is None
                    or challenge != asked["code_challenge"]
                    or asked["code_challenge_method"] != "S256"
                    or given["redirect_uri"][0] != asked["redirect_uri"]
                ):
                    self.say({"error": "invalid_grant"}, 400)
                else:
                    self.say(
                        {
                            "access_token": "a",
                            "token_type": "Bearer",
                            "expires_in": 60,
                            "id_token": provider.statement(asked),
                        }
                    )

        return Handler
