/**
 * The version of the envelope's contract, and the fingerprint of the catalogue it was given for. New events
 * and new optional details fields are a minor bump; the fingerprint makes forgetting it impossible.
 */
export const eventSchemaVersion = "1.1.0"

export const catalogueFingerprint = "220872e2cfd5480d"
