/**
 * The version of the envelope's contract, and the fingerprint of the catalogue it was given for. New events
 * and new optional details fields are a minor bump; the fingerprint makes forgetting it impossible.
 */
export const eventSchemaVersion = "1.2.0"

export const catalogueFingerprint = "d4f6cbe18db2d912"
