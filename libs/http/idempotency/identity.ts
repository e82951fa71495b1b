/**
 * The identity of a request: the caller's idempotency key, and a fingerprint of all that is asked for, however it was
 * written down. The order of parts or keys does not count, nor a boundary, nor the file names and types that client
 * libraries make up.
 */
import { hash } from "node:crypto"
import { Effect, Option } from "effect"
import { HttpCall } from "../HttpCall.ts"
import { validationFailed, type WireError } from "../WireError.ts"

const charactersMax = 255
// The limit counts characters, not UTF-16 units.
const acceptable = /^[^\p{Cc}]{1,255}$/u

/** The header `Idempotency-Key`, or `field`, the `idempotency_key` of the form or the JSON body; both when they agree. */
export const idempotencyKey = (field: string | undefined): Effect.Effect<string | undefined, WireError, HttpCall> =>
  Effect.flatMap(HttpCall, (call) => {
    const header = Option.getOrUndefined(call.header("idempotency-key"))
    const faults: Record<string, string> = {}
    if (header !== undefined && !acceptable.test(header)) faults["Idempotency-Key"] = rule
    if (field !== undefined && !acceptable.test(field)) faults["idempotency_key"] = rule
    if (header !== undefined && field !== undefined && header !== field) {
      faults["idempotency_key"] ??= "differs from the header Idempotency-Key"
    }
    return Object.keys(faults).length > 0 ? Effect.fail(validationFailed(faults)) : Effect.succeed(header ?? field)
  })

const rule = `must be 1 to ${charactersMax} characters, none of them a control character`

/** A part of a form by its name and the SHA-256 of its bytes. */
export interface PartDigest {
  readonly name: string
  readonly sha256: string
}

/** SHA-256 in hex over all parts of a form. */
export const formFingerprint = (parts: ReadonlyArray<PartDigest>): string => {
  const lines = parts.map(({ name, sha256 }) => JSON.stringify([name, sha256]))
  return hash("sha256", `form\n${inOrder(lines).join("\n")}`, "hex")
}

/** SHA-256 in hex of a JSON value as `JSON.parse` gives it; its reader has bounded the depth. */
export const jsonFingerprint = (value: unknown): string => hash("sha256", `json\n${canonical(value)}`, "hex")

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}:${canonical(member)}`]
  )
  return `{${inOrder(members).join(",")}}`
}

// Ordered by code unit, which is the same on every machine, whatever its language.
const inOrder = (lines: ReadonlyArray<string>) => lines.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
