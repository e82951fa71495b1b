/**
 * Bearer tokens of our own APIs. A token is 32 random bytes and is shown once; stored is its SHA-256, so
 * that who reads the store cannot call. A token belongs to a workspace: a member's is allowed what both its
 * role and its scopes allow, a service account's what its scopes allow.
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
  revokedAt: Schema.NullOr(Timestamp)
})
export interface TokenRecord extends Schema.Schema.Type<typeof TokenRecord> {}

export interface IssuedToken {
  /** Shown this once. */
  readonly token: string
  readonly record: TokenRecord
}

export type TokenRequest = Pick<TokenRecord, "workspace" | "kind" | "role" | "scopes">

const prefix = "stl_"
const idCharacters = 12

export class Tokens extends Context.Service<
  Tokens,
  {
    readonly make: (request: TokenRequest) => Effect.Effect<IssuedToken, BusError>
    /** Nothing for an unknown or revoked token. */
    readonly find: (token: string) => Effect.Effect<Option.Option<TokenRecord>, BusError>
    readonly list: Effect.Effect<ReadonlyArray<TokenRecord>, BusError>
    /** By the id that `make` and `list` show. */
    readonly revoke: (id: string) => Effect.Effect<TokenRecord, BusError>
  }
>()("starling/http/Tokens") {
  static readonly layer = Layer.effect(
    Tokens,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("tokens", TokenRecord)
      const now = Effect.map(Clock.currentTimeMillis, (ms) => isoTime(ms))

      const make = Effect.fn("Tokens.make")(function* (request: TokenRequest) {
        const token = `${prefix}${randomBytes(32).toString("base64url")}`
        const key = keyOf(token)
        const record: TokenRecord = {
          ...request,
          id: key.slice(0, idCharacters),
          createdAt: yield* now,
          revokedAt: null
        }
        yield* bucket.create(key, record)
        return { token, record }
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

// The key is the hash: one lookup finds a token, and nothing in the store leads back to it.
const keyOf = (token: string) => hash("sha256", token, "hex")
