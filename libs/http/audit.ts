/**
 * Writes the log of what operators did, whether they come over HTTP or to the broker itself. An act is written down
 * before it is done: one that cannot be written down does not happen.
 */
import { Clock, Effect } from "effect"
import { jsonCodec, Publisher } from "#bus"
import { AuditRecord, isoTime, subjects } from "#base"
import type { TokenRecord } from "./auth/Tokens.ts"

export const auditCodec = jsonCodec(AuditRecord)

// As much as the record's schema takes.
const targetCharactersMax = 1_000

interface Act extends Omit<AuditRecord, "at" | "by"> {
  readonly by: Omit<AuditRecord["by"], "person"> & { readonly person?: string | undefined }
}

export const writeAudit = Effect.fn("writeAudit")(function* (act: Act) {
  const publisher = yield* Publisher
  const at = isoTime(yield* Clock.currentTimeMillis)
  const { workspace, tokenId, role, person } = act.by
  const by = { workspace, tokenId, role, ...(person === undefined ? {} : { person }) }
  const target = act.target.slice(0, targetCharactersMax)
  const record: AuditRecord = { ...act, at, target, by }
  yield* publisher.publish(subjects.audit(act.action), auditCodec, record)
})

/** What a token is made with, as AUDIT names it. */
export const madeTarget = ({ id, label, kind, role, scopes, expiresAt }: TokenRecord) =>
  `${id} ${JSON.stringify({ label, kind, role, scopes, expiresAt: expiresAt ?? null })}`

export const revokedTarget = ({ id, label }: TokenRecord) => `${id} ${JSON.stringify({ label: label ?? null })}`

/** A record that cannot be read. */
export const brokenTarget = (key: string) => `${key} ${JSON.stringify({ broken: true })}`
