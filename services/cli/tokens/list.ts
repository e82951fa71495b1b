/** Tokens as a person reads them: a line each below headings, or JSON for programs. What makes a call is in neither. Pure. */
import { hasExpired, type TokenRecord } from "#http"
import { span } from "./lifetime.ts"
import { table } from "../table.ts"

export const tokenHeadings = ["id", "label", "workspace", "role", "scopes", "age", "expires", "last use"] as const

/** The oldest first. `uses`: when each was last used, by id. */
export const tokenTable = (
  records: ReadonlyArray<TokenRecord>,
  uses: ReadonlyMap<string, string>,
  nowMs: number
): ReadonlyArray<string> =>
  table(
    tokenHeadings,
    byAge(records).map((record) => [
      record.id,
      labelOf(record) ?? "-",
      record.workspace,
      roleOf(record),
      record.scopes.join(","),
      span(nowMs - Date.parse(record.createdAt)),
      endOf(record, nowMs),
      useOf(uses.get(record.id), nowMs)
    ])
  )

export const tokenJson = (record: TokenRecord, lastUsedAt: string | undefined) => ({
  id: record.id,
  label: labelOf(record) ?? null,
  workspace: record.workspace,
  kind: record.kind,
  role: record.role,
  scopes: record.scopes,
  createdAt: record.createdAt,
  expiresAt: record.expiresAt ?? null,
  revokedAt: record.revokedAt,
  lastUsedAt: lastUsedAt ?? null
})

export const byAge = (records: ReadonlyArray<TokenRecord>) =>
  records.toSorted((left, right) => Date.parse(left.createdAt) - Date.parse(right.createdAt))

const labelOf = ({ label, purpose }: TokenRecord) => label ?? (purpose === "home" ? "owner of the home" : undefined)

// What a service account may do does not end where a role ends.
const roleOf = ({ kind, role }: TokenRecord) => (kind === "service" ? "service" : role)

const endOf = (record: TokenRecord, nowMs: number) => {
  if (record.revokedAt !== null) return `revoked ${span(nowMs - Date.parse(record.revokedAt))} ago`
  if (record.expiresAt === undefined) return "never"
  const leftMs = Date.parse(record.expiresAt) - nowMs
  return hasExpired(record, nowMs) ? `expired ${span(-leftMs)} ago` : `in ${span(leftMs)}`
}

// Written once an hour: what is told to the minute would be wrong.
const hourMs = 3_600_000
const useOf = (at: string | undefined, nowMs: number) => {
  if (at === undefined) return "never"
  const agoMs = nowMs - Date.parse(at)
  return agoMs < hourMs ? "within the hour" : `${span(agoMs)} ago`
}
