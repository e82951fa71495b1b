/**
 * One-time codes: with one, a browser signs in without ever seeing the token behind it. The store has a code's hash.
 * Taking one removes that very entry, so of two who bring the same code one alone is let in.
 */
import { hash, randomBytes } from "node:crypto"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, Kv } from "#bus"
import { isoTime, Timestamp } from "#contracts"
import type { Caller } from "#http"

const SignInRights = Schema.Struct({
  workspace: Schema.String,
  kind: Schema.Literals(["member", "service"]),
  role: Schema.Literals(["owner", "admin", "member", "viewer"]),
  scopes: Schema.Array(Schema.String),
  /** The token that asked for it. */
  by: Schema.String,
  /** Whom a proxy named, where such a session asked for it: who signs in with it is that person. */
  person: Schema.optionalKey(Schema.String),
  /** The key of that token: a session ends with it. Codes of earlier releases have none. */
  maker: Schema.optionalKey(Schema.String),
  /** When that token ends: nobody gives more than they have. */
  endsAt: Schema.NullOr(Timestamp),
  expiresAt: Timestamp
})
export interface SignInRights extends Schema.Schema.Type<typeof SignInRights> {}

export const codeLifetimeMs = 600_000
// A person makes a few; a program that makes so many has a fault.
const codesMax = 100

export class TooManyCodes extends Schema.TaggedError<TooManyCodes>()("TooManyCodes", {}) {
  override get message() {
    return `${codesMax} codes wait to be used; each ends within ten minutes`
  }
}

interface Maker extends Pick<
  Caller["Service"],
  "workspace" | "kind" | "role" | "scopes" | "tokenId" | "expiresAt" | "person"
> {
  /** As `tokenKey` makes it. */
  readonly key: string
}

export class SignInCodes extends Context.Service<
  SignInCodes,
  {
    readonly make: (
      by: Maker
    ) => Effect.Effect<{ readonly code: string; readonly expiresAt: string }, BusError | TooManyCodes>
    /** None for a code that is unknown, used or over. */
    readonly take: (code: string) => Effect.Effect<Option.Option<SignInRights>, BusError>
  }
>()("starling/console/SignInCodes") {
  static readonly layer = Layer.effect(
    SignInCodes,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("sign-in-codes", SignInRights)

      const make = Effect.fn("SignInCodes.make")(function* ({ tokenId, key, expiresAt: endsAt, ...rights }: Maker) {
        if ((yield* bucket.entries).length >= codesMax) return yield* new TooManyCodes({})
        const { workspace, kind, role, scopes, person } = rights
        const code = randomBytes(16).toString("base64url")
        const expiresAt = isoTime((yield* Clock.currentTimeMillis) + codeLifetimeMs)
        const who = { workspace, kind, role, scopes, ...(person === undefined ? {} : { person }) }
        const given = { ...who, by: tokenId, maker: key, endsAt: endsAt ?? null, expiresAt }
        yield* bucket.create(keyOf(code), given as SignInRights)
        return { code, expiresAt }
      })

      const take = Effect.fn("SignInCodes.take")(function* (code: string) {
        const found = Option.getOrUndefined(yield* bucket.get(keyOf(code)))
        if (found === undefined) return Option.none<SignInRights>()
        yield* bucket.remove(found.key, found.revision)
        const isOver = Date.parse(found.value.expiresAt) <= (yield* Clock.currentTimeMillis)
        return isOver ? Option.none<SignInRights>() : Option.some(found.value)
      })
      // Somebody else took it between the look and the removal.
      const takeOnce = (code: string) =>
        Effect.catchTag(take(code), "RevisionConflict", () => Effect.succeed(Option.none<SignInRights>()))
      return SignInCodes.of({ make, take: takeOnce })
    })
  )
}

const keyOf = (code: string) => hash("sha256", code, "hex")
