/** Bearer tokens over HTTP: those of the caller's workspace. */
import { Clock, Effect, Result } from "effect"
import { apiScopes, tokenLifetimeMsDefault, tokenLimits } from "#base"
import { TokensGroup, type TokenView } from "#console/api"
import {
  Caller,
  conflict,
  grantsNotHeld,
  hasExpired,
  HttpCall,
  insufficientScope,
  jsonAnswer,
  madeTarget,
  notFound,
  type OrderFault,
  revokedTarget,
  roleScopes,
  routesOf,
  type TokenRecord,
  tokenRequest,
  Tokens,
  TokenUses,
  validationFailed,
  WireError
} from "#http"
import { Configuration } from "#configuration"
import { AuditLog } from "../AuditLog.ts"
import { apiOptions, cursorText, entryPlaceOf, refusing } from "./requests.ts"

/** Pure. */
export const tokenView = (record: TokenRecord, lastUsedAt: string | undefined, nowMs: number): TokenView => ({
  id: record.id,
  label: record.label ?? null,
  workspace: record.workspace,
  kind: record.kind,
  role: record.role,
  scopes: record.scopes,
  state: record.revokedAt !== null ? "revoked" : hasExpired(record, nowMs) ? "expired" : "valid",
  createdAt: record.createdAt,
  expiresAt: record.expiresAt ?? null,
  revokedAt: record.revokedAt,
  lastUsedAt: lastUsedAt ?? null,
  isOfHome: record.purpose === "home"
})

// The id separates those made in the same millisecond.
const placeIn = ({ createdAt, id }: TokenRecord) => `${String(Date.parse(createdAt)).padStart(15, "0")}.${id}`
const placePattern = /^\d{15}\.[0-9a-f]{1,64}$/u

const own = Effect.gen(function* () {
  const { workspace } = yield* Caller
  const all = yield* refusing((yield* Tokens).list)
  return all.filter((record) => record.workspace === workspace)
})

/** With the latest use of each. */
const viewing = Effect.gen(function* () {
  const uses = yield* refusing((yield* TokenUses).all)
  const nowMs = yield* Clock.currentTimeMillis
  return (record: TokenRecord) => tokenView(record, uses.get(record.id), nowMs)
})

const faultsOf = (fault: OrderFault): Readonly<Record<string, string>> => {
  switch (fault._tag) {
    case "UnknownScopes":
      return { scopes: `${fault.scopes.join(", ")}: scopes are ${apiScopes.join(", ")}` }
    case "BeyondRole":
      return { scopes: `${fault.scopes.join(", ")}: a ${fault.role} may ${roleScopes[fault.role].join(", ")}` }
    case "BeyondWorkspace":
      return {
        scopes: `${fault.scopes.join(", ")}: reaches the whole fleet, which only tokens of its own workspace may`
      }
    case "UnfitLabel":
      return { label: `is 1 to ${tokenLimits.labelCharactersMax} characters, none of which controls a terminal` }
  }
}

const beyondCaller = (grants: ReadonlyArray<string>) => {
  const { status, code, details, headers } = insufficientScope(grants)
  const message = `you cannot grant more than your token has: it lacks ${grants.join(", ")}`
  return new WireError({ status, code, message, ...(details && { details }), ...(headers && { headers }) })
}

export const tokenRoutes = routesOf(
  TokensGroup,
  {
    listTokens: ({ query }) =>
      Effect.gen(function* () {
        const { limit, from } = yield* entryPlaceOf(yield* query, placePattern)
        const rest = (yield* own)
          .toSorted((left, right) => (placeIn(left) < placeIn(right) ? 1 : -1))
          .filter((record) => from === undefined || placeIn(record) < from)
        const shown = rest.slice(0, limit)
        const last = shown.at(-1)
        const isLastPage = last === undefined || rest.length <= limit
        return jsonAnswer({
          items: shown.map(yield* viewing),
          nextCursor: isLastPage ? null : cursorText(placeIn(last))
        })
      }),

    makeToken: ({ body }) =>
      Effect.gen(function* () {
        const { reason, label, kind = "member", role, scopes = [], lifetimeSeconds } = yield* body
        const caller = yield* Caller
        const lifetimeMs =
          lifetimeSeconds === undefined
            ? tokenLifetimeMsDefault
            : lifetimeSeconds === null
              ? undefined
              : lifetimeSeconds * 1_000
        const { Workspace: fleetWorkspace } = (yield* Configuration).Fleet
        const { workspace } = caller
        const request = tokenRequest({ workspace, fleetWorkspace, kind, role, scopes, label, lifetimeMs })
        if (Result.isFailure(request)) return yield* validationFailed(faultsOf(request.failure))
        const beyond = grantsNotHeld(caller, request.success)
        if (beyond.length > 0) return yield* beyondCaller(beyond)
        const tokens = yield* Tokens
        const issued = yield* tokens.draft(request.success)
        const { record } = issued
        yield* (yield* AuditLog).write({ action: "token-make", target: madeTarget(record), reason })
        yield* refusing(
          Effect.catchTag(tokens.keep(issued), "TooManyTokens", ({ message }) => Effect.fail(conflict(message)))
        )
        const view = tokenView(record, undefined, yield* Clock.currentTimeMillis)
        // No intermediate cache may keep it.
        const headers = { "cache-control": "no-store" }
        return jsonAnswer({ token: issued.token, ...view }, { status: 201, headers })
      }),

    revokeToken: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        const { id } = (yield* HttpCall).params
        const found = (yield* own).find((record) => record.id === id)
        if (found === undefined) return yield* notFound("there is no such token in this workspace")
        if (found.revokedAt === null) {
          yield* (yield* AuditLog).write({ action: "token-revoke", target: revokedTarget(found), reason })
        }
        const revoked = yield* refusing((yield* Tokens).revoke(found.id))
        return jsonAnswer((yield* viewing)(revoked))
      })
  },
  apiOptions
)
