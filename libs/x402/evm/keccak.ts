/** Keccak-256, the hash of this family of chains. OpenSSL as Node ships it knows only the later SHA-3 padding. */
import { keccak_256 } from "@noble/hashes/sha3.js"

export const keccak256 = (bytes: Uint8Array): Uint8Array => keccak_256(bytes)

/** Of a text's UTF-8 bytes: type hashes, event topics, function selectors. */
export const keccak256OfText = (text: string): Uint8Array => keccak_256(Buffer.from(text, "utf8"))
