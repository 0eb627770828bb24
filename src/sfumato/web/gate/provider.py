"""An identity provider, asked by code flow with PKCE, state and nonce (OpenID Connect)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from httpx2 import Client, HTTPError, InvalidURL
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from sfumato.errors import FileError, NoEntry
from sfumato.gate.config import Config, OidcConfig
from sfumato.web.shell import LOOPBACK

__all__ = ["Provider"]

_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
_KNOWN_FOR = 3600.0
_WAIT = 10.0
_LEEWAY = 60


class Provider:
    """An identity provider, and what it says about itself.

    Parameters
    ----------
    config
        Of the gate; the client's secret is read from its file at each login.
    said
        What the configuration says of the provider.
    """

    def __init__(self, config: Config, said: OidcConfig) -> None:
        self._config = config
        self.said = said
        self._lock = threading.Lock()
        self._known: tuple[float, dict[str, Any], KeySet] | None = None

    def leads_to(self, browser: str, back: str) -> str:
        """Where somebody logs in.

        Parameters
        ----------
        browser
            What the browser keeps until it comes back: state, nonce and verifier are made of it.
        back
            Where it comes back to.
        """
        about, _ = self._about()
        with self._client(back) as client:
            address, _ = client.create_authorization_url(
                about["authorization_endpoint"],
                state=_made(browser, "state"),
                nonce=_made(browser, "nonce"),
                code_verifier=_made(browser, "verifier"),
            )
        return str(address)

    def who(self, browser: str, back: str, state: str, code: str, issuer: str | None) -> str:
        """Who came back.

        Parameters
        ----------
        browser, back
            As when it was led there.
        state, code, issuer
            What the provider sent it back with.

        Raises
        ------
        NoEntry
            It is not proved who it is.
        """
        if not hmac.compare_digest(_made(browser, "state").encode(), state.encode()):
            raise NoEntry("This login was not begun here: begin again.")
        about, keys = self._about()
        if issuer is not None and issuer != about["issuer"]:
            raise NoEntry("Another provider answered: begin again.")
        try:
            with self._client(back) as client:
                given = client.fetch_token(
                    about["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=_made(browser, "verifier"),
                )
            return self._proved(given, about, keys, _made(browser, "nonce"))
        except (AuthlibBaseError, JoseError, HTTPError, InvalidURL, KeyError, TypeError, ValueError):
            raise NoEntry("The provider did not say who you are: begin again.") from None

    def _proved(self, given: dict[str, Any], about: dict[str, Any], keys: KeySet, nonce: str) -> str:
        said = self.said
        token = jwt.decode(given["id_token"], keys, algorithms=_ALGORITHMS)
        claims = CodeIDToken(
            token.claims,
            token.header,
            {"iss": {"essential": True, "value": about["issuer"]}, "aud": {"essential": True, "value": said.client_id}},
            {"nonce": nonce, "client_id": said.client_id, "access_token": given.get("access_token")},
        )
        claims.validate(leeway=_LEEWAY)
        if not hmac.compare_digest(str(claims["nonce"]).encode(), nonce.encode()):
            raise ValueError
        name = claims[said.claim]
        if not isinstance(name, str) or (said.claim == "email" and claims.get("email_verified") is not True):
            raise ValueError
        return name

    def _client(self, back: str) -> Any:
        said = self.said
        secret = None
        if said.client_secret_file is not None:
            try:
                secret = self._config.path(said.client_secret_file).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError):
                raise FileError("The file of the provider's secret cannot be read.") from None
        return OAuth2Client(
            client_id=said.client_id,
            client_secret=secret,
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            scope="openid profile email",
            redirect_uri=back,
            code_challenge_method="S256",
            timeout=_WAIT,
            follow_redirects=False,
            trust_env=False,
        )

    def _about(self) -> tuple[dict[str, Any], KeySet]:
        """What the provider says about itself, and its keys; asked anew after an hour."""
        with self._lock:
            if self._known is None or self._known[0] < time.monotonic():
                self._known = (time.monotonic() + _KNOWN_FOR, *self._asked())
            return self._known[1:]

    def _asked(self) -> tuple[dict[str, Any], KeySet]:
        issuer = self.said.issuer
        try:
            with Client(timeout=_WAIT, follow_redirects=False, trust_env=False) as client:
                about = client.get(f"{issuer}/.well-known/openid-configuration")
                told: dict[str, Any] = about.raise_for_status().json()
                if str(told["issuer"]).rstrip("/") != issuer:
                    raise ValueError
                for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                    _refuse_open(told[name])
                keys = client.get(told["jwks_uri"]).raise_for_status().json()
            return told, KeySet.import_key_set(keys)
        except (HTTPError, InvalidURL, JoseError, KeyError, TypeError, ValueError):
            raise FileError("The identity provider cannot be reached, or is not what it should be.") from None


def _made(browser: str, what: str) -> str:
    """What nobody can make who has not what the browser keeps."""
    digest = hmac.new(browser.encode("utf-8", "surrogatepass"), what.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _refuse_open(address: Any) -> None:
    parts = urlsplit(str(address))
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ValueError
