"""A node's identity: its key, the id that follows from it, and what it signs. interfaces/wire.md, "Rooms".

Needs cryptography (PyPI).
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def base64url(data: bytes) -> str:
    """Without padding, as JOSE has it (RFC 7515 section 2)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Identity:
    def __init__(self, file: Path | None = None):
        """The key of a state directory's `identity.pem`, else one that nobody knows."""
        if file:
            key = serialization.load_pem_private_key(file.read_bytes(), None)
            assert isinstance(key, ec.EllipticCurvePrivateKey)
            self.key = key
        else:
            self.key = ec.generate_private_key(ec.SECP256R1())
        self.public = self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)  # fmt: skip
        self.id = hashlib.sha256(self.public).hexdigest()[:16]

    def signed(self, payload: dict[str, Any], **header: str) -> str:
        """A compact JWS, ES256 (RFC 7515 section 3.1, RFC 7518 section 3.4). `header`: instead of ours."""
        parts = ({"alg": "ES256", "kid": self.id} | header, payload)
        text = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        r, s = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
