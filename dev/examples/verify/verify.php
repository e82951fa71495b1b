<?php

declare(strict_types=1);

const WEBHOOK_TOLERANCE_SECONDS = 300;
const WEBHOOK_SIGNATURES_MAX = 8;

/** The key; null when the secret is none: whsec_ without 24 to 64 bytes in base64 after it, or fewer than 16 bytes. */
function webhook_key(string $secret): ?string
{
    if (!str_starts_with($secret, 'whsec_')) {
        return strlen($secret) >= 16 && !str_starts_with($secret, 'v1,') ? $secret : null;
    }
    $encoded = substr($secret, 6);
    $key = (string) base64_decode($encoded, true);
    // The decoder skips spaces, and takes it without its padding.
    $is_whole = base64_encode($key) === $encoded;
    return $is_whole && strlen($key) >= 24 && strlen($key) <= 64 ? $key : null;
}

/**
 * Verifies a webhook by the headers of Standard Webhooks. Needs PHP alone. True when the body is from who holds the
 * secret and was sent within five minutes of now (epoch seconds).
 */
function verify_webhook(string $secret, array $headers, string $body, ?int $now = null): bool
{
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if ($id === '' || preg_match('/\A\d{1,12}\z/', $timestamp) !== 1) {
        return false;
    }
    if (abs(($now ?? time()) - (int) $timestamp) > WEBHOOK_TOLERANCE_SECONDS) {
        return false;
    }
    $key = webhook_key($secret);
    if ($key === null) {
        return false;
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // While a secret is rotated the header holds a signature by each, with a space between them.
    $given = array_slice(explode(' ', $headers['webhook-signature'] ?? ''), 0, WEBHOOK_SIGNATURES_MAX);
    foreach ($given as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}
