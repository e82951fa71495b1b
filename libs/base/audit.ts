/**
 * The log of operators' actions, through the console or on tokens on the broker itself: who, what, on what, and why.
 */
import { Schema } from "effect"
import { Count, describe, text, Timestamp } from "./primitives.ts"

/** Every action that changes something. A new writing route adds its own. */
export const auditActions = [
  "event-publish",
  "event-type-declare",
  "event-type-change",
  "delivery-resend",
  "abandoned-resend",
  "abandoned-discard",
  "rejected-resend",
  "rejected-discard",
  "endpoint-create",
  "endpoint-change",
  "endpoint-rotate",
  "endpoint-reseal",
  "endpoint-remove",
  "endpoint-enable",
  "endpoint-disable",
  "endpoint-pause",
  "endpoint-resume",
  "endpoint-test",
  "token-make",
  "token-revoke",
  "sign-in-code",
  "sign-in",
  "sign-out",
  "trial-pay",
  "book-mend",
  "book-accept",
  "payment-refund"
] as const
export type AuditAction = (typeof auditActions)[number]

/** Used instead of a token's id: someone working on the broker itself, bypassing the APIs. */
export const onTheBroker = "command line on the broker"

/** The longest reason of an action. */
export const reasonCharactersMax = 500

export const AuditRecord = Schema.Struct({
  at: Timestamp,
  action: Schema.Literals(auditActions),
  /** The object of the action, as the route names it. */
  target: text(1_000),
  reason: text(reasonCharactersMax),
  by: Schema.Struct({
    workspace: Schema.String,
    tokenId: Schema.String,
    role: Schema.String,
    /** The person named by the proxy in front. */
    person: Schema.optionalKey(Schema.String)
  }),
  requestId: Schema.String
})
export interface AuditRecord extends Schema.Schema.Type<typeof AuditRecord> {}

/** A record with its position in the log. */
export const AuditEntry = Schema.Struct({
  sequence: Count.pipe(describe("Its place in the log.")),
  at: Timestamp,
  action: Schema.Literals(auditActions),
  target: Schema.String.pipe(describe("What it was done to.")),
  reason: Schema.String,
  by: Schema.Struct({
    workspace: Schema.String,
    tokenId: Schema.String.pipe(
      describe(`As \`./starling token list\` shows it; \`${onTheBroker}\` for who went past the APIs.`)
    ),
    role: Schema.String.pipe(describe("The token's role; on the broker itself, the broker's user.")),
    person: Schema.optionalKey(Schema.String).pipe(
      describe("Whom the proxy in front named; absent where a token alone came.")
    )
  }),
  requestId: Schema.String
}).annotate({ identifier: "AuditEntry" })
export interface AuditEntry extends Schema.Schema.Type<typeof AuditEntry> {}
