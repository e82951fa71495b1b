/**
 * Bearer tokens of our own APIs. A token is 32 random bytes and is shown once; the store has its SHA-256, which is
 * useless as a token. A token belongs to a workspace: a member's token allows what both its role and its scopes allow,
 * a service account's what its scopes allow. An expired or revoked token is kept for a month, so that it can be told
 * from one that never existed; creating a token removes older ones.
 */
import { hash, randomBytes } from "node:crypto"
import { Clock, Context, Effect, Layer, Option, Result, Schema } from "effect"
import { type BusError, BusNotFound, kept, Kv, type KvEntry, records, replaced } from "#bus"
import {
  type ApiScope,
  apiScopes,
  faultOfName,
  isoTime,
  type Permission,
  Timestamp,
  tokenLimits,
  workspaceScopes
} from "#base"

export const TokenRecord = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  kind: Schema.Literals(["member", "service"]),
  role: Schema.Literals(["owner", "admin", "member", "viewer"]),
  scopes: Schema.Array(Schema.String),
  createdAt: Timestamp,
  revokedAt: Schema.NullOr(Timestamp),
  /** The operator's name for the token. */
  label: Schema.optionalKey(Schema.String),
  /** Without it the token does not expire. */
  expiresAt: Schema.optionalKey(Timestamp),
  /** The owner's token that `up` creates and keeps for its home; all other tokens are created by hand. */
  purpose: Schema.optionalKey(Schema.Literal("home")),
  /**
   * The person whom a proxy in front named: for their session only, and for calls that the proxy attributes to them.
   */
  person: Schema.optionalKey(Schema.String),
  /**
   * The key, as made by `tokenKey`, of the token that this one ends with: for a session, the token that made its code.
   */
  maker: Schema.optionalKey(Schema.String)
})
export interface TokenRecord extends Schema.Schema.Type<typeof TokenRecord> {}

export interface IssuedToken {
  /** The token itself, shown only here. */
  readonly token: string
  readonly record: TokenRecord
}

export interface TokenRequest extends Pick<
  TokenRecord,
  "workspace" | "kind" | "role" | "scopes" | "label" | "purpose" | "maker" | "person"
> {
  /** Without it the token does not expire. */
  readonly lifetimeMs?: number
}

/** What a caller asks of a new token. */
export interface TokenOrder {
  readonly workspace: string
  /** The fleet's own, as `Fleet.Workspace` names it. */
  readonly fleetWorkspace: string
  readonly kind: TokenRecord["kind"]
  /** Without it, the lowest role that the scopes need. */
  readonly role?: TokenRecord["role"] | undefined
  /** Without any, everything that the role allows; for a service account, reading. */
  readonly scopes: ReadonlyArray<string>
  readonly label?: string | undefined
  /** Undefined for a token that does not expire. */
  readonly lifetimeMs: number | undefined
}

/**
 * What is wrong with an order: scopes that no route needs, scopes of which the role or the workspace allows nothing, or
 * the label.
 */
export type OrderFault =
  | { readonly _tag: "UnknownScopes"; readonly scopes: ReadonlyArray<string> }
  | { readonly _tag: "BeyondRole"; readonly scopes: ReadonlyArray<string>; readonly role: TokenRecord["role"] }
  | { readonly _tag: "BeyondWorkspace"; readonly scopes: ReadonlyArray<string> }
  | { readonly _tag: "UnfitLabel" }

/** The request that an order becomes. */
export const tokenRequest = ({
  label,
  lifetimeMs,
  fleetWorkspace,
  ...order
}: TokenOrder): Result.Result<TokenRequest, OrderFault> => {
  const unknown = unknownGrants(order.scopes)
  if (unknown.length > 0) return Result.fail({ _tag: "UnknownScopes", scopes: unknown })
  const { workspace, kind, role = leastRole(order.scopes) } = order
  const beyond = kind === "service" ? [] : grantsBeyond(role, order.scopes)
  if (beyond.length > 0) return Result.fail({ _tag: "BeyondRole", scopes: beyond, role })
  const outside = workspace === fleetWorkspace ? [] : grantsOfFleet(order.scopes)
  if (outside.length > 0) return Result.fail({ _tag: "BeyondWorkspace", scopes: outside })
  if (label !== undefined && !isLabel(label)) return Result.fail({ _tag: "UnfitLabel" })
  const all = kind === "service" ? roleScopes.viewer : ["*"]
  return Result.succeed({
    workspace,
    kind,
    role,
    scopes: order.scopes.length === 0 ? all : order.scopes,
    ...(label === undefined ? {} : { label }),
    ...(lifetimeMs === undefined ? {} : { lifetimeMs })
  })
}

// A label must fit on one line of a terminal.
const isLabel = (label: string) =>
  label !== "" && label.length <= tokenLimits.labelCharactersMax && faultOfName(label) === undefined

/**
 * This many tokens are listed and cleared in a few seconds. A fleet with more creates them for each call, which is a
 * bug.
 */
const tokensMax = 10_000

export class TooManyTokens extends Schema.TaggedError<TooManyTokens>()("TooManyTokens", {}) {
  override get message() {
    return `there are ${tokensMax} tokens already; those that ended go a month later`
  }
}

const prefix = "stl_"
const idCharacters = 12
const keyPattern = /^[\w=/-]{1,200}$/u
// A session can make a code for another browser, and so on; each step is a look-up in every call.
const makersMax = 4
// Long enough to find out why a caller has been refused since its holiday.
const endedKeptMs = 30 * 86_400_000

export class Tokens extends Context.Service<
  Tokens,
  {
    /** `draft` and `keep` in one. */
    readonly make: (request: TokenRequest) => Effect.Effect<IssuedToken, BusError | TooManyTokens>
    /** A token that is not accepted yet, so that its id can be recorded first. */
    readonly draft: (request: TokenRequest) => Effect.Effect<IssuedToken>
    readonly keep: (issued: IssuedToken) => Effect.Effect<void, BusError | TooManyTokens>
    /**
     * None for an unknown or revoked token, and for one whose maker was revoked. An expired one is found; see
     * `hasExpired`.
     */
    readonly find: (token: string) => Effect.Effect<Option.Option<TokenRecord>, BusError>
    /** All readable tokens; one whose maker was revoked is listed as revoked. */
    readonly list: Effect.Effect<ReadonlyArray<TokenRecord>, BusError>
    /** Revokes a token, and with it the sessions that its codes started. Its id is as `make` and `list` show it. */
    readonly revoke: (id: string) => Effect.Effect<TokenRecord, BusError>
    /** The revision of a record that is stored under a key and is not a token; none for a key without such a record. */
    readonly broken: (key: string) => Effect.Effect<Option.Option<number>, BusError>
    readonly removeBroken: (key: string, revision: number) => Effect.Effect<void, BusError>
  }
>()("starling/http/Tokens") {
  static readonly layer = Layer.effect(
    Tokens,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("tokens", TokenRecord)
      const tokens = records(bucket)

      const draft = Effect.fn("Tokens.draft")(function* ({ lifetimeMs, ...request }: TokenRequest) {
        const token = `${prefix}${randomBytes(32).toString("base64url")}`
        const nowMs = yield* Clock.currentTimeMillis
        const record: TokenRecord = {
          ...request,
          id: tokenKey(token).slice(0, idCharacters),
          createdAt: isoTime(nowMs),
          revokedAt: null,
          ...(lifetimeMs === undefined ? {} : { expiresAt: isoTime(nowMs + lifetimeMs) })
        }
        return { token, record }
      })

      const keep = Effect.fn("Tokens.keep")(function* ({ token, record }: IssuedToken) {
        const before = yield* bucket.entries
        if (before.length >= tokensMax) return yield* new TooManyTokens({})
        yield* bucket.create(tokenKey(token), record)
        // The token exists already; old tokens that remain now are removed with the next one.
        yield* Effect.ignore(clear(before, Date.parse(record.createdAt) - endedKeptMs))
      })
      const make = (request: TokenRequest) => Effect.tap(draft(request), keep)

      // Cleared explicitly: a bucket that once had a time to live per key could not be rolled back to a release without
      // it.
      const clear = (entries: ReadonlyArray<KvEntry<TokenRecord>>, endedBeforeMs: number) =>
        Effect.forEach(
          entries.filter(({ value }) => hasEnded(value, endedBeforeMs)),
          ({ key, revision }) => bucket.remove(key, revision),
          { discard: true }
        )

      const find = Effect.fn("Tokens.find")(function* (token: string) {
        const found = yield* bucket.get(tokenKey(token))
        let maker = found
        for (let steps = 0; Option.isSome(maker); steps++) {
          const { revokedAt, maker: key } = maker.value.value
          if (revokedAt !== null || steps > makersMax) return Option.none<TokenRecord>()
          if (key === undefined) return Option.map(found, ({ value }) => value)
          maker = yield* bucket.get(key)
        }
        return Option.none<TokenRecord>()
      })

      const revoke = Effect.fn("Tokens.revoke")(function* (id: string) {
        const unknown = new BusNotFound({ operation: "revoke a token", detail: `no token ${id}` })
        const found = (yield* bucket.entries).find(({ value }) => value.id === id)
        if (found === undefined) return yield* unknown
        const { value } = yield* tokens.change(found.key, (before, { nowMs }) =>
          before === undefined || before.revokedAt !== null
            ? kept(before)
            : replaced({ ...before, revokedAt: isoTime(nowMs) })
        )
        return value ?? (yield* unknown)
      })
      const list = Effect.map(bucket.entries, (entries) => endedWithMakers(entries))
      // A wildcard would find another key's record.
      const broken = (key: string) => (keyPattern.test(key) ? bucket.broken(key) : Effect.succeedNone)
      return Tokens.of({ make, draft, keep, find, list, revoke, broken, removeBroken: bucket.remove })
    })
  )
}

/** A token whose maker was revoked counts as revoked from then on. Pure. */
const endedWithMakers = (entries: ReadonlyArray<KvEntry<TokenRecord>>): ReadonlyArray<TokenRecord> => {
  const byKey = new Map(entries.map(({ key, value }) => [key, value]))
  const revokedAt = (record: TokenRecord, steps = 0): TokenRecord["revokedAt"] => {
    if (record.revokedAt !== null || record.maker === undefined) return record.revokedAt
    const maker = byKey.get(record.maker)
    // A maker that is no longer stored ended long ago.
    return maker === undefined || steps >= makersMax ? record.createdAt : revokedAt(maker, steps + 1)
  }
  return entries.map(({ value }) => ({ ...value, revokedAt: revokedAt(value) }))
}

export const hasExpired = ({ expiresAt }: { readonly expiresAt?: string | undefined }, nowMs: number) =>
  expiresAt !== undefined && Date.parse(expiresAt) <= nowMs

const hasEnded = ({ expiresAt, revokedAt }: TokenRecord, nowMs: number) =>
  hasExpired({ expiresAt: revokedAt ?? expiresAt }, nowMs)

/** The key is the hash: one look-up finds a token, and nothing in the store leads back to it. */
export const tokenKey = (token: string): string => hash("sha256", token, "hex")

/**
 * Scopes such as `audio:speech`, and the grants of a caller. A grant is a scope, an entire family (`audio:all` or
 * `audio:*`), one verb of every family (`*:read`), or `*`: everything that the role allows.
 */
export type RoleScopes = Readonly<Record<TokenRecord["role"], ReadonlyArray<string>>>

// A member uses the fleet; decisions of operators for the entire fleet require an admin.
const memberScopes = ["audio:*", "events:*", "pipeline:*", "voices:*", "*:read", "console:write"]

// Scopes whose holder can give rights to others. A `*` includes them only in an owner's token: service accounts with
// `*` were not made for it.
const ownersScopes: ReadonlyArray<string> = ["tokens:manage"]

export const roleScopes: RoleScopes = {
  owner: ["*", ...ownersScopes],
  admin: ["*"],
  member: memberScopes,
  viewer: ["*:read"]
}

const covers = (grant: string, scope: string): boolean => {
  if (grant === scope) return true
  if (grant === "*") return !ownersScopes.includes(scope)
  const [family, verb] = grant.split(":")
  const [wantedFamily, wantedVerb] = scope.split(":")
  if (family === "*") return verb === wantedVerb
  return family === wantedFamily && (verb === "*" || verb === "all")
}

const grantedBy = (grants: ReadonlyArray<string>, scope: string) => grants.some((grant) => covers(grant, scope))

type Rights = Pick<TokenRecord, "kind" | "role" | "scopes">

/** A member can use a scope that its role and its token both allow, a service account one that its token allows. */
export const mayUse = ({ kind, role, scopes }: Rights, roles: RoleScopes, scope: string) =>
  kind === "service"
    ? grantedBy(scopes, scope)
    : grantedBy(roles[role], scope) && (scopes.includes("*") || grantedBy(scopes, scope))

/** Whether a scope reaches what belongs to no workspace, or to all. */
export const reachesFleet = (scope: ApiScope): boolean => !workspaceScopes.includes(scope)

/** Grants of which nothing stays within a workspace; a `*` means in each what it can mean there. */
const grantsOfFleet = (grants: ReadonlyArray<string>): ReadonlyArray<string> =>
  grants.filter((grant) => !workspaceScopes.some((scope) => covers(grant, scope)))

/** The grants of a token that its giver must not give: nobody gives more than they have, now or in a later release. */
export const grantsNotHeld = (giver: Rights, given: Rights, roles: RoleScopes = roleScopes): ReadonlyArray<string> =>
  given.scopes.filter((grant) => {
    const only = { ...given, scopes: [grant] }
    const isHeldNow = apiScopes.every((scope) => !mayUse(only, roles, scope) || mayUse(giver, roles, scope))
    // A later release may have more scopes of the family.
    return !isHeldNow || !giver.scopes.some((own) => includes(own, grant))
  })

/** Whether one grant covers all that another means now and later. Single scopes are already checked by the caller. */
const includes = (own: string, grant: string): boolean => {
  const [family, verb] = grant.split(":")
  if (own === "*" || own === grant || (family !== "*" && verb !== "*" && verb !== "all")) return true
  const [ownFamily, ownVerb] = own.split(":")
  return family !== "*" && ownFamily === family && (ownVerb === "*" || ownVerb === "all")
}

const permittedRoles: Readonly<Record<Permission, ReadonlyArray<TokenRecord["role"]>>> = {
  "content.manage": ["owner", "admin", "member"]
}

/** A member has the permissions of its role; for a service account only its scopes decide. */
export const isPermitted = ({ kind, role }: Pick<TokenRecord, "kind" | "role">, permission: Permission): boolean =>
  kind === "service" || permittedRoles[permission].includes(role)

/** Grants that match no existing scope. */
export const unknownGrants = (grants: ReadonlyArray<string>): ReadonlyArray<string> =>
  grants.filter((grant) => !apiScopes.some((scope) => covers(grant, scope)))

/** Grants of which the role allows nothing. */
export const grantsBeyond = (
  role: TokenRecord["role"],
  grants: ReadonlyArray<string>,
  roles: RoleScopes = roleScopes
): ReadonlyArray<string> =>
  grants.filter((grant) => !apiScopes.some((scope) => covers(grant, scope) && grantedBy(roles[role], scope)))

/** The role with the fewest rights that allows all of every grant; a viewer if there are no grants. */
export const leastRole = (grants: ReadonlyArray<string>, roles: RoleScopes = roleScopes): TokenRecord["role"] => {
  const wanted = apiScopes.filter((scope) => grantedBy(grants, scope))
  const fromLeast = ["viewer", "member", "admin"] as const
  return fromLeast.find((role) => wanted.every((scope) => grantedBy(roles[role], scope))) ?? "owner"
}
