/**
 * Bearer tokens of our own APIs. A token is 32 random bytes and is shown once; the store has its SHA-256, which is
 * useless as a token. A token belongs to a workspace: a member's token allows what both its role and its scopes allow,
 * a service account's what its scopes allow. An expired or revoked token is kept for a month, so that it differs from
 * one that never existed; making a token removes older ones.
 */
import { hash, randomBytes } from "node:crypto"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, BusNotFound, Kv } from "#bus"
import { isoTime, Timestamp } from "#contracts"

export const TokenRecord = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  kind: Schema.Literals(["member", "service"]),
  role: Schema.Literals(["owner", "admin", "member", "viewer"]),
  scopes: Schema.Array(Schema.String),
  createdAt: Timestamp,
  revokedAt: Schema.NullOr(Timestamp),
  /** The operator's name for it. */
  label: Schema.optionalKey(Schema.String),
  /** Without one the token does not expire. */
  expiresAt: Schema.optionalKey(Timestamp),
  /** The owner's token that `up` makes and keeps for its home; all other tokens are made by hand. */
  purpose: Schema.optionalKey(Schema.Literal("home"))
})
export interface TokenRecord extends Schema.Schema.Type<typeof TokenRecord> {}

export interface IssuedToken {
  /** The token itself, shown only here. */
  readonly token: string
  readonly record: TokenRecord
}

export interface TokenRequest extends Pick<
  TokenRecord,
  "workspace" | "kind" | "role" | "scopes" | "label" | "purpose"
> {
  /** Without one the token does not expire. */
  readonly lifetimeMs?: number
}

const prefix = "stl_"
const idCharacters = 12
// Long enough to find out why a caller has been refused since its holiday.
const endedKeptMs = 30 * 86_400_000

export class Tokens extends Context.Service<
  Tokens,
  {
    readonly make: (request: TokenRequest) => Effect.Effect<IssuedToken, BusError>
    /** None for an unknown or revoked token. An expired one is found; see `hasExpired`. */
    readonly find: (token: string) => Effect.Effect<Option.Option<TokenRecord>, BusError>
    readonly list: Effect.Effect<ReadonlyArray<TokenRecord>, BusError>
    /** Revokes a token by the id that `make` and `list` show. */
    readonly revoke: (id: string) => Effect.Effect<TokenRecord, BusError>
  }
>()("starling/http/Tokens") {
  static readonly layer = Layer.effect(
    Tokens,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("tokens", TokenRecord)
      const now = Effect.map(Clock.currentTimeMillis, (ms) => isoTime(ms))

      const make = Effect.fn("Tokens.make")(function* ({ lifetimeMs, ...request }: TokenRequest) {
        const token = `${prefix}${randomBytes(32).toString("base64url")}`
        const key = keyOf(token)
        const nowMs = yield* Clock.currentTimeMillis
        const record: TokenRecord = {
          ...request,
          id: key.slice(0, idCharacters),
          createdAt: isoTime(nowMs),
          revokedAt: null,
          ...(lifetimeMs === undefined ? {} : { expiresAt: isoTime(nowMs + lifetimeMs) })
        }
        yield* bucket.create(key, record)
        // The token exists already; tokens that are left over now go with the next one.
        yield* Effect.ignore(clearEnded(nowMs - endedKeptMs))
        return { token, record }
      })

      // Cleared by hand: a bucket that once had a time to live per key could not be taken back to a release without it.
      const clearEnded = Effect.fnUntraced(function* (beforeMs: number) {
        const ended = (yield* bucket.entries).filter(({ value }) => hasEnded(value, beforeMs))
        yield* Effect.forEach(ended, ({ key, revision }) => bucket.remove(key, revision), { discard: true })
      })

      const find = Effect.fn("Tokens.find")(function* (token: string) {
        const entry = yield* bucket.get(keyOf(token))
        return Option.map(entry, ({ value }) => value).pipe(Option.filter((record) => record.revokedAt === null))
      })

      const revoke = Effect.fn("Tokens.revoke")(function* (id: string) {
        const entry = (yield* bucket.entries).find(({ value }) => value.id === id)
        if (entry === undefined)
          return yield* new BusNotFound({ operation: "revoke a token", detail: `no token ${id}` })
        if (entry.value.revokedAt !== null) return entry.value
        const revoked = { ...entry.value, revokedAt: yield* now }
        yield* bucket.update(entry.key, revoked, entry.revision)
        return revoked
      })
      const list = Effect.map(bucket.entries, (entries) => entries.map(({ value }) => value))
      return Tokens.of({ make, find, list, revoke })
    })
  )
}

export const hasExpired = ({ expiresAt }: { readonly expiresAt?: string | undefined }, nowMs: number) =>
  expiresAt !== undefined && Date.parse(expiresAt) <= nowMs

const hasEnded = ({ expiresAt, revokedAt }: TokenRecord, nowMs: number) =>
  hasExpired({ expiresAt: revokedAt ?? expiresAt }, nowMs)

// The key is the hash: one look-up finds a token, and nothing in the store leads back to it.
const keyOf = (token: string) => hash("sha256", token, "hex")
