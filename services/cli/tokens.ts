/**
 * Makes, lists and revokes bearer tokens of our own APIs. By default a token can read and expires after ninety days.
 * The token itself is shown once, alone on standard output; the rest goes to standard error. Changes to tokens are
 * recorded in AUDIT first, as the console does.
 */
import { randomUUID } from "node:crypto"
import { Clock, Effect, Layer, Option } from "effect"
import { apiScopes, onTheBroker, reasonCharactersMax, tokenLimits } from "#base"
import {
  brokenTarget,
  hasExpired,
  type IssuedToken,
  madeTarget,
  type OrderFault,
  revokedTarget,
  roleScopes,
  type TokenRecord,
  type TokenRequest,
  tokenRequest,
  Tokens,
  TokenUses,
  writeAudit
} from "#http"
import { type Page, printPage } from "./answers.ts"
import { brokerUserOf, busOf, fleetWorkspaceOf } from "./connection.ts"
import { CommandRefused, misused, note, print } from "./console.ts"

interface TokenOrder {
  readonly label: string | undefined
  readonly expires: string
  readonly role: TokenRecord["role"] | undefined
  readonly scope: ReadonlyArray<string>
  readonly workspace: string | undefined
  readonly kind: TokenRecord["kind"]
}

interface Shared {
  readonly json: boolean
  readonly nats: string | undefined
}

interface Reasoned {
  readonly reason: string
}

const stores = (nats: string | undefined) =>
  Layer.mergeAll(Tokens.layer, TokenUses.layer).pipe(Layer.provideMerge(busOf(nats)))

export const makeToken = Effect.fnUntraced(function* ({
  json,
  nats,
  reason,
  ...order
}: TokenOrder & Shared & Reasoned) {
  const request = yield* requestOf(order)
  const write = yield* writerOf({ nats, reason })
  yield* Effect.provide(make(request, write, json), stores(nats))
})

export const listTokens = (given: Shared & Page) => Effect.provide(list(given), stores(given.nats))

export const revokeToken = Effect.fnUntraced(function* ({
  id,
  json,
  nats,
  reason
}: Shared & Reasoned & { readonly id: string }) {
  const write = yield* writerOf({ nats, reason })
  yield* Effect.provide(revoke(id, write, json), stores(nats))
})

/** Records an action on a token in AUDIT. */
const writerOf = Effect.fnUntraced(function* ({ nats, reason }: Reasoned & Pick<Shared, "nats">) {
  if (reason.trim() === "" || reason.length > reasonCharactersMax) {
    return yield* misused(`--reason is 1 to ${reasonCharactersMax} characters, and not blank`)
  }
  const role = yield* brokerUserOf(nats)
  return (action: "token-make" | "token-revoke", target: string, { workspace }: Pick<TokenRecord, "workspace">) =>
    writeAudit({
      action,
      target,
      reason,
      by: { workspace, tokenId: onTheBroker, role },
      requestId: `cli_${randomUUID()}`
    })
})
type Writer = Effect.Success<ReturnType<typeof writerOf>>

const make = Effect.fnUntraced(function* (request: TokenRequest, write: Writer, isJson: boolean) {
  const tokens = yield* Tokens
  const issued = yield* tokens.draft(request)
  yield* write("token-make", madeTarget(issued.record), issued.record)
  yield* tokens.keep(issued)
  if (isJson) return yield* print(JSON.stringify({ ...tokenJson(issued.record, undefined), token: issued.token }))
  yield* print(issued.token)
  // On standard error, so that a script reads the token alone.
  yield* note(noteOf(issued, request.lifetimeMs))
})

const noteOf = ({ record }: IssuedToken, lifetimeMs: number | undefined) => {
  const end = lifetimeMs === undefined ? "it does not end by itself" : `it ends in ${span(lifetimeMs)}`
  const who = record.kind === "service" ? "service account" : record.role
  return `token ${record.id}: ${who} of ${record.workspace}, scopes ${record.scopes.join(",")}; ${end}`
}

const list = Effect.fnUntraced(function* (page: Page) {
  const tokens = yield* Tokens
  const [records, uses] = yield* Effect.all([tokens.list, (yield* TokenUses).all], { concurrency: 2 })
  const nowMs = yield* Clock.currentTimeMillis
  yield* printPage(byAge(records), page, {
    keyOf: ({ id }) => id,
    forPrograms: (record) => tokenJson(record, uses.get(record.id)),
    forPeople: (record) => tokenRow(record, uses.get(record.id), nowMs),
    columns: tokenColumns,
    whole: ["scopes"]
  })
})

const revoke = Effect.fnUntraced(function* (id: string, write: Writer, isJson: boolean) {
  const tokens = yield* Tokens
  const found = (yield* tokens.list).find((record) => record.id === id)
  const broken = found === undefined ? yield* tokens.broken(id) : Option.none<number>()
  if (Option.isSome(broken)) return yield* removeBroken({ key: id, revision: broken.value, write, isJson })
  if (found?.revokedAt === null) yield* write("token-revoke", revokedTarget(found), found)
  const record = yield* tokens.revoke(id)
  if (isJson) {
    const uses = yield* (yield* TokenUses).all
    return yield* print(JSON.stringify(tokenJson(record, uses.get(record.id))))
  }
  yield* print(`${record.id} is revoked since ${record.revokedAt}`)
})

interface Broken {
  readonly key: string
  readonly revision: number
  readonly write: Writer
  readonly isJson: boolean
}

/** From then on the token's holder is refused as unknown. */
const removeBroken = Effect.fnUntraced(function* ({ key, revision, write, isJson }: Broken) {
  yield* write("token-revoke", brokenTarget(key), { workspace: yield* fleetWorkspaceOf })
  yield* (yield* Tokens).removeBroken(key, revision)
  yield* print(isJson ? JSON.stringify({ id: key, removed: true }) : `${key} is removed: its record could not be read`)
})

const requestOf = Effect.fnUntraced(function* ({ expires, scope, workspace, ...values }: TokenOrder) {
  const lifetime = readLifetime(expires)
  if (lifetime === "refused") {
    return yield* misused(`--expires ${expires}? it is a lifetime such as 12h, 30d or 26w, at most 3650d, or never`)
  }
  const fleetWorkspace = yield* fleetWorkspaceOf
  const order = { ...values, workspace: workspace ?? fleetWorkspace, fleetWorkspace, scopes: scope }
  const request = tokenRequest({ ...order, lifetimeMs: lifetime.lifetimeMs })
  return yield* Effect.mapError(Effect.fromResult(request), (fault) => {
    const reason = refusalOf(fault, order)
    const isMisuse = fault._tag === "UnknownScopes" || fault._tag === "UnfitLabel"
    return isMisuse ? misused(reason) : new CommandRefused({ reason })
  })
})

const refusalOf = (
  fault: OrderFault,
  { workspace, fleetWorkspace }: { readonly workspace: string; readonly fleetWorkspace: string }
) => {
  switch (fault._tag) {
    case "UnknownScopes": {
      const known = `${apiScopes.join(", ")}; a family as audio:*, a verb as *:read, or *`
      return `--scope ${fault.scopes.join(", ")}? it is one of: ${known}`
    }
    case "BeyondRole": {
      const { scopes, role } = fault
      return `--scope ${scopes.join(", ")} is more than a ${role} may, which is ${roleScopes[role].join(", ")}`
    }
    case "BeyondWorkspace": {
      const given = `--scope ${fault.scopes.join(", ")} reaches the whole fleet, which a token of ${workspace} may not`
      return `${given}; one of the fleet's own workspace, ${fleetWorkspace}, may`
    }
    case "UnfitLabel":
      return `--label is 1 to ${tokenLimits.labelCharactersMax} characters, none of which controls a terminal`
  }
}

const tokenColumns = {
  id: "id",
  label: "label",
  workspace: "workspace",
  role: "role",
  scopes: "scopes",
  age: "age",
  expires: "expires",
  "last use": "lastUse"
}

export const tokenRow = (record: TokenRecord, lastUsedAt: string | undefined, nowMs: number) => ({
  id: record.id,
  label: labelOf(record),
  workspace: record.workspace,
  role: roleOf(record),
  scopes: record.scopes.join(","),
  age: span(nowMs - Date.parse(record.createdAt)),
  expires: endOf(record, nowMs),
  lastUse: useOf(lastUsedAt, nowMs)
})

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

/** Oldest first. */
const byAge = (records: ReadonlyArray<TokenRecord>) =>
  records.toSorted((left, right) => Date.parse(left.createdAt) - Date.parse(right.createdAt))

const labelOf = ({ label, purpose }: TokenRecord) => label ?? (purpose === "home" ? "owner of the home" : undefined)

// The rights of a service account do not depend on a role.
const roleOf = ({ kind, role }: TokenRecord) => (kind === "service" ? "service" : role)

const endOf = (record: TokenRecord, nowMs: number) => {
  if (record.revokedAt !== null) return `revoked ${span(nowMs - Date.parse(record.revokedAt))} ago`
  if (record.expiresAt === undefined) return "never"
  const leftMs = Date.parse(record.expiresAt) - nowMs
  return hasExpired(record, nowMs) ? `expired ${span(-leftMs)} ago` : `in ${span(leftMs)}`
}

// The last use is written once an hour, so a figure in minutes would be wrong.
const hourMs = 3_600_000
const useOf = (at: string | undefined, nowMs: number) => {
  if (at === undefined) return "never"
  const agoMs = nowMs - Date.parse(at)
  return agoMs < hourMs ? "within the hour" : `${span(agoMs)} ago`
}

/** Time spans in readable form: `90d`, `never`, `3 h ago`. Pure. */
const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const
type Unit = keyof typeof units

/** Reads `30d`, `12h`; `undefined` for `never`. An invalid or excessive lifetime is refused. */
export const readLifetime = (text: string): { readonly lifetimeMs: number | undefined } | "refused" => {
  if (text === "never") return { lifetimeMs: undefined }
  const [, count = "", unit = ""] = /^([1-9]\d{0,8})([smhdw])$/u.exec(text) ?? []
  const lifetimeMs = Number(count) * (units[unit as Unit] ?? 0)
  return lifetimeMs > 0 && lifetimeMs <= tokenLimits.lifetimeMsMax ? { lifetimeMs } : "refused"
}

/** In the largest unit that fits at least once: `3 d`. */
export const span = (ms: number): string => {
  const known = (["d", "h", "m"] as const).find((unit) => ms >= units[unit]) ?? "s"
  const names = { d: "d", h: "h", m: "min", s: "s" } as const
  return `${Math.floor(Math.max(0, ms) / units[known])} ${names[known]}`
}
