/**
 * Sessions over HTTP: signing in yields a cookie, and every call with that cookie is a call with its token.
 *
 * One-time codes: with one, a browser signs in without ever seeing the token behind it. The store has only a code's
 * hash. Taking one removes that very entry, so of two callers with the same code only one is let in.
 */
import { hash, randomBytes } from "node:crypto"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { apiScopes, isoTime, Timestamp } from "#base"
import { type Session, SessionGroup } from "#console/api"
import {
  Auth,
  Caller,
  conflict,
  emptyAnswer,
  type IssuedToken,
  jsonAnswer,
  routesOf,
  tokenKey,
  Tokens,
  unauthorized,
  type WireError
} from "#http"
import { type BusError, deleted, Kv, records } from "#bus"
import { Configuration } from "#configuration"
import { type Act, AuditLog } from "../AuditLog.ts"
import { clearCookie, PageAccess, type SessionCookie, setCookie } from "../page/PageAccess.ts"
import { ApiProxy } from "./ApiProxy.ts"
import { ProxyPerson } from "../page/ProxyPerson.ts"
import { Trials } from "./money.ts"
import { apiOptions, refusing } from "./requests.ts"

const SignInRights = Schema.Struct({
  workspace: Schema.String,
  kind: Schema.Literals(["member", "service"]),
  role: Schema.Literals(["owner", "admin", "member", "viewer"]),
  scopes: Schema.Array(Schema.String),
  /** The token that requested it. */
  by: Schema.String,
  /** The person named by a proxy, if such a session requested it: signing in with it is signing in as that person. */
  person: Schema.optionalKey(Schema.String),
  /** The key of that token: a session ends with it. Codes of earlier releases have none. */
  maker: Schema.optionalKey(Schema.String),
  /** When that token ends: a code never grants more than its maker has. */
  endsAt: Schema.NullOr(Timestamp),
  expiresAt: Timestamp
})
export interface SignInRights extends Schema.Schema.Type<typeof SignInRights> {}

export const codeLifetimeMs = 600_000
// A person makes a few; a program that makes this many is faulty.
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
    /** None for a code that is unknown, used or expired. */
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
        const { answer: taken } = yield* records(bucket).change(keyOf(code), (before) => deleted(before, "remove"))
        const nowMs = yield* Clock.currentTimeMillis
        return Option.filter(Option.fromUndefinedOr(taken), ({ expiresAt }) => Date.parse(expiresAt) > nowMs)
      })
      return SignInCodes.of({ make, take })
    })
  )
}

const keyOf = (code: string) => hash("sha256", code, "hex")

// A working day, without a night in which an unattended machine stays signed in.
const sessionLifetimeMs = 12 * 3_600_000
const pageLabel = "console page"
const noStore = { "cache-control": "no-store" }

type Who = Caller["Service"]

const sessionOf = Effect.fnUntraced(function* ({ label, role, workspace, person, may, expiresAt }: Who) {
  const { isPayer } = yield* Trials
  const session: Session = {
    label: person ?? (label === undefined || label === pageLabel ? `${role} of ${workspace}` : label),
    scopes: apiScopes.filter((scope) => may(scope)),
    expiresAt: (expiresAt ?? null) as Session["expiresAt"],
    apis: yield* (yield* ApiProxy).apis,
    paysForTrials: isPayer
  }
  return session
})

const signedIn = Effect.fnUntraced(function* (who: Who, cookie: SessionCookie, origin: string) {
  const nowMs = yield* Clock.currentTimeMillis
  const lastsMs = who.expiresAt === undefined ? undefined : Date.parse(who.expiresAt) - nowMs
  const headers = { ...noStore, "set-cookie": setCookie(cookie, origin, lastsMs) }
  return jsonAnswer(yield* sessionOf(who), { headers })
})

/** Recorded before the token exists. */
const tokenFor = Effect.fnUntraced(function* (rights: SignInRights) {
  const tokens = yield* Tokens
  const leftMs = rights.endsAt === null ? Infinity : Date.parse(rights.endsAt) - (yield* Clock.currentTimeMillis)
  const { workspace, kind, role, scopes, by, maker, person } = rights
  const lifetimeMs = Math.max(1, Math.min(sessionLifetimeMs, leftMs))
  const issued = yield* tokens.draft({
    workspace,
    kind,
    role,
    scopes,
    label: pageLabel,
    lifetimeMs,
    ...(maker === undefined ? {} : { maker }),
    ...(person === undefined ? {} : { person })
  })
  yield* beginWith(issued, { target: by, reason: "with a code that this token made" })
  return issued.token
})

/** The sign-in is recorded before the token is valid. */
const beginWith = Effect.fnUntraced(function* (issued: IssuedToken, act: Pick<Act, "target" | "reason">) {
  const { id, workspace, role, person } = issued.record
  yield* (yield* AuditLog).writeAs({ tokenId: id, workspace, role, person }, { action: "sign-in", ...act })
  yield* refusing(
    Effect.catchTag((yield* Tokens).keep(issued), "TooManyTokens", ({ message }) => Effect.fail(conflict(message)))
  )
})

/** The person named by the proxy in front; none without a claim. A wrong proof counts like a wrong token. */
const personInFront = Effect.gen(function* () {
  const claim = yield* (yield* ProxyPerson).claim
  if (claim._tag === "Nobody") return Option.none<string>()
  if (claim._tag === "Proven") return Option.some(claim.person)
  if (claim.isGuess) yield* (yield* Auth).within(Effect.succeedNone)
  return yield* unauthorized(claim.why)
})

/** A session of the person named by the proxy, with the role configured for all of them. */
const tokenOfPerson = Effect.fnUntraced(function* (person: string) {
  const { admit, role } = yield* ProxyPerson
  yield* admit(person)
  const { Workspace: workspace } = (yield* Configuration).Fleet
  const rights = { workspace, kind: "member", role, scopes: ["*"] } as const
  const issued = yield* (yield* Tokens).draft({ ...rights, label: pageLabel, person, lifetimeMs: sessionLifetimeMs })
  yield* beginWith(issued, { target: person, reason: "as the proxy in front says" })
  return issued.token
})

const noSession = (error: WireError) => (error.status === 401 ? Effect.succeed(null) : Effect.fail(error))

export const sessionRoutes = routesOf(
  SessionGroup,
  {
    makeSignInCode: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        yield* (yield* PageAccess).requireOn
        const caller = yield* Caller
        const token = yield* (yield* Auth).sent
        if (Option.isNone(token)) return yield* unauthorized()
        yield* (yield* AuditLog).write({ action: "sign-in-code", target: caller.tokenId, reason })
        const codes = yield* SignInCodes
        const made = yield* refusing(
          Effect.catchTag(codes.make({ ...caller, key: tokenKey(token.value) }), "TooManyCodes", ({ message }) =>
            Effect.fail(conflict(message))
          )
        )
        return jsonAnswer(made, { status: 201, headers: noStore })
      }),

    getSession: () =>
      Effect.gen(function* () {
        const auth = yield* Auth
        const token = yield* Effect.catch(auth.sent, (error) =>
          Effect.map(noSession(error), () => Option.none<string>())
        )
        const who = Option.isNone(token) ? null : yield* Effect.catch(auth.prove(token.value), noSession)
        if (who !== null) return jsonAnswer(yield* sessionOf(who), { headers: noStore })
        const person = yield* personInFront
        if (Option.isNone(person)) return jsonAnswer(null, { headers: noStore })
        const origin = yield* (yield* PageAccess).origin
        const made = yield* tokenOfPerson(person.value)
        return yield* signedIn(yield* auth.prove(made), { token: made, isMadeForIt: true }, origin)
      }),

    signIn: ({ body }) =>
      Effect.gen(function* () {
        const origin = yield* (yield* PageAccess).origin
        const proof = yield* body
        const auth = yield* Auth
        if ("token" in proof) {
          const who = yield* auth.prove(proof.token)
          yield* (yield* AuditLog).writeAs(who, { action: "sign-in", target: who.tokenId, reason: "with a token" })
          return yield* signedIn(who, { token: proof.token, isMadeForIt: false }, origin)
        }
        const rights = yield* auth.within(refusing((yield* SignInCodes).take(proof.code)))
        if (Option.isNone(rights)) {
          return yield* unauthorized("the code was used, or its time is over: ./starling console makes another")
        }
        const token = yield* tokenFor(rights.value)
        return yield* signedIn(yield* auth.prove(token), { token, isMadeForIt: true }, origin)
      }),

    signOut: () =>
      Effect.gen(function* () {
        const access = yield* PageAccess
        const origin = yield* access.origin
        const cookie = Option.getOrUndefined(yield* access.cookie)
        if (cookie !== undefined) yield* endOf(cookie)
        return emptyAnswer({ headers: { ...noStore, "set-cookie": clearCookie(origin) } })
      })
  },
  apiOptions
)

/** A session that has already ended is forgotten all the same. */
const endOf = Effect.fnUntraced(function* ({ token, isMadeForIt }: SessionCookie) {
  const who = yield* Effect.catch((yield* Auth).prove(token), noSession)
  if (who === null) return
  yield* (yield* AuditLog).writeAs(who, { action: "sign-out", target: who.tokenId, reason: "from the page" })
  if (isMadeForIt) yield* refusing((yield* Tokens).revoke(who.tokenId))
})
