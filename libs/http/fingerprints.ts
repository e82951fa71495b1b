/**
 * What two requests have in common that ask for the same, however they were written down. Pure. Neither the
 * order of parts or keys counts, nor a boundary, nor the file names and types that client libraries make up.
 */
import { hash } from "node:crypto"

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

/** SHA-256 in hex of a JSON value; what `JSON.parse` gives, of a depth that was bounded there. */
export const jsonFingerprint = (value: unknown): string => hash("sha256", `json\n${canonical(value)}`, "hex")

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}:${canonical(member)}`]
  )
  return `{${inOrder(members).join(",")}}`
}

// By code unit: the same on every machine, whatever its language.
const inOrder = (lines: ReadonlyArray<string>) => lines.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
