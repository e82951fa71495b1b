"""Verifies a webhook by the headers of Standard Webhooks. Needs the standard library alone."""

import base64
import hashlib
import hmac
import time

TOLERANCE_SECONDS = 300
SIGNATURES_MAX = 8


def key_of(secret):
    """The key; none when the secret is none: `whsec_` without 24 to 64 bytes in base64, or fewer than 16 bytes."""
    if not secret.startswith("whsec_"):
        key = secret.encode()
        return key if len(key) >= 16 and not secret.startswith("v1,") else None
    encoded = secret[6:].encode()
    try:
        key = base64.b64decode(encoded)
    except ValueError:
        return None
    # The decoder skips what it cannot read.
    return key if 24 <= len(key) <= 64 and base64.b64encode(key) == encoded else None


def verify(secret, headers, body, now=None):
    """True when `body`, as bytes, is from who holds the secret and was sent within five minutes of `now` (epoch seconds)."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not message_id or not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = key_of(secret)
    if key is None:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # While a secret is rotated the header holds a signature by each, with a space between them.
    given = headers.get("webhook-signature", "").split(" ")[:SIGNATURES_MAX]
    return any([hmac.compare_digest(expected, one.encode()) for one in given])
