/** The log of what operators did, through the console or to tokens on the broker itself: who, what, to what, and why. */
import { Schema } from "effect"
import { Count, describe, text, Timestamp } from "./primitives.ts"

/** Every act that changes something. A new route that writes adds its own. */
export const auditActions = [
  "event-publish",
  "delivery-resend",
  "abandoned-resend",
  "abandoned-discard",
  "rejected-resend",
  "rejected-discard",
  "endpoint-create",
  "endpoint-change",
  "endpoint-rotate",
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

/** In the place of a token's id: who works on the broker itself, past the APIs. */
export const onTheBroker = "command line on the broker"

/** So long a reason of an act may be. */
export const reasonCharactersMax = 500

export const AuditRecord = Schema.Struct({
  at: Timestamp,
  action: Schema.Literals(auditActions),
  /** What it was done to, as the route names it. */
  target: text(1_000),
  reason: text(reasonCharactersMax),
  by: Schema.Struct({
    workspace: Schema.String,
    tokenId: Schema.String,
    role: Schema.String,
    /** Whom the proxy in front named. */
    person: Schema.optionalKey(Schema.String)
  }),
  requestId: Schema.String
})
export interface AuditRecord extends Schema.Schema.Type<typeof AuditRecord> {}

/** A record with its place in the log. */
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
