/**
 * Authentication by token: a bearer token, or one that the API finds beside it. A valid token is cached for four
 * seconds, so a revocation takes effect within five; an unknown token costs the same work as a known one. An address
 * that keeps sending wrong tokens is refused without a look-up, except for tokens that were right before, because the
 * address may be shared. While tokens cannot be looked up, an API can let those count that it found a while ago. An expired token is refused as expired from the moment it expires. A scope that reaches the
 * entire fleet works only for tokens of the fleet's own workspace, `Fleet.Workspace`.
 */
import { hash } from "node:crypto"
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Option } from "effect"
import type { ApiScope, Permission } from "#base"
import { Platform } from "#runtime"
import { addressGroup, HttpCall } from "../HttpCall.ts"
import { rateWindow } from "../rate-limit/RateWindow.ts"
import { TokenUses } from "./TokenUses.ts"
import {
  hasExpired,
  isPermitted,
  mayUse,
  reachesFleet,
  roleScopes,
  type RoleScopes,
  type TokenRecord,
  Tokens
} from "./Tokens.ts"
import {
  forbidden,
  insufficientScope,
  otherWorkspace,
  rateLimited,
  serviceUnavailable,
  unauthorized,
  type WireError
} from "../WireError.ts"

/** The caller behind a token, and its scopes. */
export class Caller extends Context.Service<
  Caller,
  {
    readonly tokenId: string
    readonly workspace: string
    readonly kind: TokenRecord["kind"]
    readonly role: TokenRecord["role"]
    /** The label that its maker gave the token. */
    readonly label: string | undefined
    /** The person whom a proxy in front named, for a session that began that way. */
    readonly person: string | undefined
    /** Undefined for a token that does not expire. */
    readonly expiresAt: string | undefined
    /** As stored in the token; `may` says what they allow. */
    readonly scopes: ReadonlyArray<string>
    readonly may: (scope: ApiScope) => boolean
    /** Whether the token has a scope that its workspace does not allow. */
    readonly isKeptFrom: (scope: ApiScope) => boolean
  }
>()("starling/http/Caller") {}

interface AuthOptions {
  /** The most scopes that each role can use. */
  readonly roles?: RoleScopes
  /** Wrong tokens per address and minute. */
  readonly failuresMax?: number
  /**
   * How long a token that was found goes on to count while no token can be looked up. Only for an API that then can do
   * nothing but show what it holds itself; without it, callers are refused with 503.
   */
  readonly countsUnseenMs?: number
  /** The token of a caller that sends no Authorization, such as a page's in a cookie; fails where it must not count. */
  readonly otherToken?: Effect.Effect<Option.Option<string>, WireError, HttpCall>
  /** The person whom the call itself names. With it, a person's token counts only for calls that name that person. */
  readonly namedPerson?: Effect.Effect<Option.Option<string>, never, HttpCall>
}

const failuresMaxDefault = 30
const failureWindowMs = 60_000
const cachedTokensMax = 4_096
const provenTokensMax = 4_096
const foundFor = Duration.seconds(4)
// An unknown token is looked up again soon: it may have been created meanwhile.
const unknownFor = Duration.seconds(1)
// A call to a broker that hangs would wait for five seconds.
const hangsAfter = Duration.seconds(1)
// One call in so long tries anew.
const missedForMs = 4_000
const bearer = /^bearer +([\x21-\x7e]{1,512})$/iu

/**
 * Each call brings its own facts.
 * @effect-expect-leaking HttpCall
 */
export class Auth extends Context.Service<
  Auth,
  {
    readonly identify: Effect.Effect<Caller["Service"], WireError, HttpCall>
    /** The token that came with the call, valid or not. */
    readonly sent: Effect.Effect<Option.Option<string>, WireError, HttpCall>
    /** The caller behind a token that came another way. */
    readonly prove: (token: string) => Effect.Effect<Caller["Service"], WireError, HttpCall>
    /** Looks up another secret: a wrong one counts against the caller's address like a wrong token. */
    readonly within: <A>(
      look: Effect.Effect<Option.Option<A>, WireError>
    ) => Effect.Effect<Option.Option<A>, WireError, HttpCall>
  }
>()("starling/http/Auth") {
  static readonly layer = (options: AuthOptions = {}) => Layer.effect(Auth, make(options))
}

const make = Effect.fnUntraced(function* ({
  roles = roleScopes,
  failuresMax = failuresMaxDefault,
  countsUnseenMs = 0,
  otherToken = Effect.succeedNone,
  namedPerson
}: AuthOptions) {
  const { Workspace: fleetWorkspace } = (yield* Platform).Fleet
  const tokens = yield* Tokens
  const uses = yield* TokenUses
  const failures = rateWindow({ name: "failed_auth", limit: failuresMax, windowMs: failureWindowMs })
  const known = yield* lookUps(tokens, countsUnseenMs)

  const within = Effect.fnUntraced(function* <A>(look: Effect.Effect<Option.Option<A>, WireError>) {
    const address = addressGroup((yield* HttpCall).remoteAddress)
    // The try is counted before the look-up; otherwise a flood would pass before its first request was counted.
    const tries = yield* failures.take(address)
    if (tries._tag === "Refused") return yield* rateLimited(tries.retryAfterMs / 1_000, failures.name)
    const refundFailures = failures.giveBack(address, tries)
    const found = yield* Effect.tapError(look, () => refundFailures)
    if (Option.isSome(found)) yield* refundFailures
    return found
  })

  const prove = Effect.fnUntraced(function* (token: string) {
    const key = hash("sha256", token, "hex")
    // A token that is being looked up costs one try, however many requests bring it at once.
    const record = yield* known.isKnown(key) ? known.lookUp(key, token) : within(known.lookUp(key, token))
    if (Option.isNone(record)) {
      known.forget(key)
      return yield* unauthorized("the token is not valid", 'Bearer error="invalid_token"')
    }
    const nowMs = yield* Clock.currentTimeMillis
    known.remember(key, record.value, nowMs)
    if (hasExpired(record.value, nowMs)) return yield* expired(record.value)
    if (namedPerson !== undefined) yield* requirePerson(record.value, namedPerson)
    yield* uses.note(record.value.id)
    return callerOf(record.value, roles, fleetWorkspace)
  })

  const sent = Effect.gen(function* () {
    const header = (yield* HttpCall).header("authorization")
    if (Option.isNone(header)) return yield* otherToken
    const token = bearer.exec(header.value)?.[1]
    if (token === undefined) return yield* unauthorized("the Authorization header is not a bearer token")
    return Option.some(token)
  })
  const identify = Effect.gen(function* () {
    const token = yield* sent
    if (Option.isNone(token)) return yield* unauthorized()
    return yield* prove(token.value)
  })
  return Auth.of({ identify, sent, prove, within })
})

export interface Needed {
  /** Any one of them suffices; without any, every valid token does. */
  readonly scopes: ReadonlyArray<ApiScope>
  readonly permission?: Permission | undefined
}

/** Runs a handler only for callers with a valid token, the permission, and at least one of the scopes. */
export const authenticated =
  (needed: Needed) =>
  <A, E, R>(handler: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const auth = yield* Auth
      const caller = yield* auth.identify
      const refusal = refusalFor(caller, needed)
      if (refusal !== undefined) return yield* refusal
      return yield* Effect.provideService(handler, Caller, caller).pipe(
        Effect.annotateLogs({ workspace: caller.workspace })
      )
    })

const refusalFor = (caller: Caller["Service"], { scopes, permission }: Needed): WireError | undefined => {
  if (permission !== undefined && !isPermitted(caller, permission)) {
    return forbidden(`the role ${caller.role} does not have the permission ${permission}`, { permission })
  }
  if (scopes.length === 0 || scopes.some((scope) => caller.may(scope))) return undefined
  const keptFrom = scopes.filter((scope) => caller.isKeptFrom(scope))
  return keptFrom.length > 0 ? otherWorkspace(caller.workspace, keptFrom) : insufficientScope(scopes)
}

const expired = ({ expiresAt }: TokenRecord) =>
  unauthorized(
    `the token expired at ${expiresAt}`,
    'Bearer error="invalid_token", error_description="the token expired"'
  )

const requirePerson = Effect.fnUntraced(function* (
  { person }: TokenRecord,
  namedPerson: NonNullable<AuthOptions["namedPerson"]>
) {
  if (person === undefined || Option.contains(yield* namedPerson, person)) return
  return yield* unauthorized("the session is of somebody else: sign in again")
})

const callerOf = (record: TokenRecord, roles: RoleScopes, fleetWorkspace: string): Caller["Service"] => {
  const isOutside = (scope: ApiScope) => record.workspace !== fleetWorkspace && reachesFleet(scope)
  const has = (scope: ApiScope) => mayUse(record, roles, scope)
  return {
    tokenId: record.id,
    workspace: record.workspace,
    kind: record.kind,
    role: record.role,
    label: record.label,
    person: record.person,
    expiresAt: record.expiresAt,
    scopes: record.scopes,
    may: (scope) => has(scope) && !isOutside(scope),
    isKeptFrom: (scope) => has(scope) && isOutside(scope)
  }
}

/** Tokens by their keys: looked up again after a few seconds, and the last ones that were found. */
const lookUps = Effect.fnUntraced(function* (tokens: Tokens["Service"], countsUnseenMs: number) {
  const proven = new Map<string, Proven>()
  // Keys are hashes, so that the tokens themselves are not stored.
  const wanted = new Map<string, string>()
  const cache = yield* Cache.makeWith((key: string) => tokens.find(wanted.get(key) ?? ""), {
    capacity: cachedTokensMax,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? (Option.isSome(exit.value) ? foundFor : unknownFor) : Duration.zero)
  })
  const ask = (key: string, token: string) =>
    Effect.suspend(() => {
      wanted.set(key, token)
      return Cache.get(cache, key)
    }).pipe(
      Effect.ensuring(Effect.sync(() => wanted.delete(key))),
      Effect.tapError((error) => Effect.logWarning("tokens cannot be looked up", error)),
      Effect.mapError(() => serviceUnavailable(1, "tokens cannot be checked just now"))
    )
  /** One that was found before is not kept waiting for a broker that hangs. */
  const lookUp = Effect.fnUntraced(function* (key: string, token: string) {
    const nowMs = yield* Clock.currentTimeMillis
    const last = proven.get(key)
    if (last === undefined || nowMs - last.foundAtMs >= countsUnseenMs) return yield* ask(key, token)
    if (nowMs - last.missedAtMs < missedForMs) return Option.some(last.record)
    return yield* ask(key, token).pipe(
      Effect.timeoutOrElse({ duration: hangsAfter, orElse: () => Effect.fail("no answer in time") }),
      Effect.catch(() =>
        Effect.sync(() => {
          proven.set(key, { ...last, missedAtMs: nowMs })
          return Option.some(last.record)
        })
      )
    )
  })
  return {
    lookUp,
    isKnown: (key: string) => proven.has(key) || wanted.has(key),
    forget: (key: string) => void proven.delete(key),
    remember: (key: string, record: TokenRecord, nowMs: number) => remember(proven, key, record, nowMs)
  }
})

/** A token that was found, and when; and when it last could not be looked up. */
interface Proven {
  readonly record: TokenRecord
  readonly foundAtMs: number
  readonly missedAtMs: number
}

const never = Number.NEGATIVE_INFINITY

const remember = (proven: Map<string, Proven>, key: string, record: TokenRecord, nowMs: number) => {
  const before = proven.get(key)
  // It counts although nothing was found now.
  if (before !== undefined && nowMs - before.missedAtMs < missedForMs) return
  if (before === undefined) {
    for (const oldest of proven.keys()) {
      if (proven.size < provenTokensMax) break
      proven.delete(oldest)
    }
  }
  proven.set(key, { record, foundAtMs: nowMs, missedAtMs: never })
}
