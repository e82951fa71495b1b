/**
 * Writes the log of operators' actions, whether they come over HTTP or directly to the broker. An action is recorded
 * before it is done: one that cannot be recorded does not happen.
 */
import { Clock, Effect } from "effect"
import { jsonCodec, Publisher } from "#bus"
import { AuditRecord, isoTime, subjects } from "#base"
import type { TokenRecord } from "./auth/Tokens.ts"

export const auditCodec = jsonCodec(AuditRecord)

// As much as the record's schema accepts.
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

/** The details of a created token, as AUDIT names it. */
export const madeTarget = ({ id, label, kind, role, scopes, expiresAt }: TokenRecord) =>
  `${id} ${JSON.stringify({ label, kind, role, scopes, expiresAt: expiresAt ?? null })}`

export const revokedTarget = ({ id, label }: TokenRecord) => `${id} ${JSON.stringify({ label: label ?? null })}`

/** An unreadable record. */
export const brokenTarget = (key: string) => `${key} ${JSON.stringify({ broken: true })}`
