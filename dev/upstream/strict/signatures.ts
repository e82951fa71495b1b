/**
 * The signatures of thoughts, with a key of this process: a client has to send a thought back with the very signature
 * that it came with.
 */
import { createHmac, randomBytes } from "node:crypto"

const key = randomBytes(32)

export const signatureOf = (thought: string) => createHmac("sha256", key).update(thought).digest("base64")

/** The data of a thought that is not shown: unreadable for who sends it back, and whole. */
export const redactedOf = (thought: string) => {
  const hidden = Buffer.from(thought).toString("base64url")
  return `${hidden}.${signatureOf(hidden)}`
}

export const isRedacted = (data: string) => {
  const [hidden = "", signature] = data.split(".")
  return signature === signatureOf(hidden)
}
