/**
 * The key by which an ordered endpoint's deliveries wait for each other: a digest of the event's entity, or of a value
 * of its envelope.
 */
import { hash } from "node:crypto"
import type { StoredEvent } from "./stored-event.ts"

/** An event's key; undefined for an event that is in no order. */
export type OrderKey = (event: Pick<StoredEvent, "entity" | "envelope">) => string | undefined

/** Compiles an endpoint's `OrderBy`. A key is a text, a number or a boolean. */
export const orderKey = (orderBy: string): OrderKey => {
  if (orderBy === "entity") return ({ entity }) => (entity === undefined ? undefined : digestOf(entity))
  const members = orderBy
    .slice(1)
    .split("/")
    .map((member) => member.replaceAll("~1", "/").replaceAll("~0", "~"))
  return ({ envelope }) => {
    const value = members.reduce<unknown>(memberOf, envelope)
    return keyTypes.has(typeof value) ? digestOf(JSON.stringify(value)) : undefined
  }
}

const keyTypes: ReadonlySet<string> = new Set(["string", "number", "boolean"])

const memberOf = (value: unknown, member: string): unknown => {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, member)) return undefined
  return Array.isArray(value) && member === "length" ? undefined : value[member as keyof typeof value]
}

// Short enough for a header, and a token of a subject.
const digestOf = (text: string) => hash("sha256", text, "hex").slice(0, 32)
