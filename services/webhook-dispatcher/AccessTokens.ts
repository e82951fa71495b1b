/**
 * Access tokens of endpoints, which all dispatchers share: whoever needs one first gets it, under a lease in the record
 * of its endpoint, and the others take it from there. In a process all deliveries of an endpoint wait for the same
 * request. A token is renewed while the one before is still good, so that no delivery waits for it. Without the broker,
 * a process gets a token of its own.
 */
import { randomUUID } from "node:crypto"
import { Clock, Context, Deferred, Effect, Layer, Option, Result, Schema } from "effect"
import { type BusError, kept, Kv, type Records, records } from "#bus"
import { EpochMs, text } from "#base"
import { Configuration } from "#configuration"
import { type EgressClient, UntrustedHttp } from "#egress"
import { Secrets } from "#runtime"
import { configuredSeal, type SecretSeal } from "#webhooks"
import type { EndpointSettings } from "./endpoints/settings.ts"
import {
  type AccessToken,
  isOld,
  isUsable,
  isWorthAnother,
  type OAuthClient,
  readToken,
  tokenRequest
} from "./token-request.ts"

/** There is no token, and the delivery was not sent. */
export class TokenUnavailable extends Schema.TaggedError<TokenUnavailable>()("TokenUnavailable", {
  tokenUrl: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `no access token from ${this.tokenUrl}: ${this.reason}`
  }
}

const TokenRecord = Schema.Struct({
  fingerprint: Schema.String,
  token: Schema.NullOr(Schema.Struct({ id: text(64), sealed: Schema.String, gotAtMs: EpochMs, endsAtMs: EpochMs })),
  /** Who gets the next one, and until when the others wait for that. */
  getting: Schema.NullOr(Schema.Struct({ by: text(64), untilMs: EpochMs }))
})
interface TokenRecord extends Schema.Schema.Type<typeof TokenRecord> {}

export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    /** A token that can be sent; renewed in the background when it is old. */
    readonly current: (endpoint: EndpointSettings, client: OAuthClient) => Effect.Effect<AccessToken, TokenUnavailable>
    /** Another than the one that the receiver refused; undefined where another would be refused as well. */
    readonly afterRefusal: (
      endpoint: EndpointSettings,
      client: OAuthClient,
      refused: AccessToken
    ) => Effect.Effect<AccessToken | undefined, TokenUnavailable>
  }
>()("starling/webhook-dispatcher/AccessTokens") {
  static readonly layer = Layer.effect(
    AccessTokens,
    Effect.gen(function* () {
      const deps = yield* dependencies
      const known = new WeakMap<OAuthClient, AccessToken>()
      const shared = sharing(deps, known)
      const current = (endpoint: EndpointSettings, client: OAuthClient) =>
        Effect.suspend(() => {
          const nowMs = deps.clock.currentTimeMillisUnsafe()
          const token = known.get(client)
          if (token === undefined || !isUsable(token, nowMs)) return shared({ endpoint, client, isGood: isUsable })
          if (!isOld(token, nowMs)) return Effect.succeed(token)
          const renewal = shared({ endpoint, client, isGood: (found, atMs) => !isOld(found, atMs) })
          return Effect.as(Effect.forkIn(Effect.ignore(renewal), deps.scope), token)
        })
      return AccessTokens.of({
        current,
        afterRefusal: (endpoint, client, refused) =>
          Effect.suspend(() => {
            const nowMs = deps.clock.currentTimeMillisUnsafe()
            // One near its end could be refused as well.
            const isGood = (found: AccessToken, atMs: number) => found.id !== refused.id && !isOld(found, atMs)
            const now = known.get(client) ?? refused
            if (isGood(now, nowMs)) return Effect.succeed(now)
            if (now.id === refused.id && !isWorthAnother(refused, nowMs)) return Effect.undefined
            return shared({ endpoint, client, isGood })
          })
      })
    })
  )
}

interface Dependencies extends Effect.Success<typeof dependencies> {}

// A token server is asked seldom, and by few endpoints at once.
const connectTimeoutMs = 5_000
const lanesMax = 256

const dependencies = Effect.gen(function* () {
  const { WebhookDelivery } = yield* Configuration
  const bucket = yield* (yield* Kv).open("webhook-tokens", TokenRecord)
  const store: Records<TokenRecord> = records(bucket, { keptMs: keptMsOf })
  return {
    store,
    seal: yield* configuredSeal(WebhookDelivery),
    servers: yield* (yield* UntrustedHttp).open({
      use: "oauth",
      allowCidrs: WebhookDelivery.AllowCidrs,
      proxyAllowCidrs: WebhookDelivery.ProxyAllowCidrs,
      connectionsPerLaneMax: 1,
      lanesMax,
      connectTimeoutMs
    }),
    redact: (yield* Secrets).redact,
    clock: yield* Clock.Clock,
    scope: yield* Effect.scope,
    self: randomUUID()
  }
})

const secondMs = 1_000

const keptMsOf = ({ token, getting }: TokenRecord, nowMs: number) => {
  const untilMs = Math.max(token?.endsAtMs ?? 0, getting?.untilMs ?? 0)
  return Math.max(1, Math.ceil((untilMs - nowMs) / secondMs)) * secondMs
}

interface Wanted {
  readonly endpoint: EndpointSettings
  readonly client: OAuthClient
  /** Whether a token that another has got will do. */
  readonly isGood: (token: AccessToken, nowMs: number) => boolean
}

type Shared = (wanted: Wanted) => Effect.Effect<AccessToken, TokenUnavailable>

/** One search for a client's token at a time; who comes meanwhile gets its result. It goes on when they leave. */
const sharing = (deps: Dependencies, known: WeakMap<OAuthClient, AccessToken>): Shared => {
  const running = new WeakMap<OAuthClient, Deferred.Deferred<AccessToken, TokenUnavailable>>()
  return (wanted) =>
    Effect.suspend(() => {
      const { client } = wanted
      const before = running.get(client)
      if (before !== undefined) return Deferred.await(before)
      const done = Deferred.makeUnsafe<AccessToken, TokenUnavailable>()
      running.set(client, done)
      const search = find(deps, wanted).pipe(
        Effect.tap((token) => Effect.sync(() => void known.set(client, token))),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            running.delete(client)
            Deferred.doneUnsafe(done, exit)
          })
        )
      )
      return Effect.andThen(Effect.forkIn(search, deps.scope), Deferred.await(done))
    })
}

// The longest request, and what the broker takes for the two writes around it.
const requestMs = 10_000
const leaseMs = requestMs + 5_000
const lookEvery = "100 millis"

type Step = { readonly found: AccessToken } | { readonly wait: true } | { readonly get: true }

/** Waits for whoever gets the token, or gets it. The lease ends by itself, and so does the wait. */
const find = Effect.fn("AccessTokens.find")(function* (
  deps: Dependencies,
  wanted: Wanted
): Effect.fn.Return<AccessToken, TokenUnavailable> {
  const startedAtMs = deps.clock.currentTimeMillisUnsafe()
  while (deps.clock.currentTimeMillisUnsafe() - startedAtMs < leaseMs) {
    const step = yield* Effect.result(nextStep(deps, wanted))
    if (Result.isFailure(step)) {
      yield* Effect.logDebug("an access token is not shared", step.failure)
      return yield* request(deps, wanted)
    }
    if ("found" in step.success) return step.success.found
    if ("get" in step.success) return yield* getAndShare(deps, wanted)
    yield* Effect.sleep(lookEvery)
  }
  return yield* new TokenUnavailable({ tokenUrl: wanted.client.tokenUrl, reason: "another dispatcher waits for it" })
})

const nextStep = ({ store, seal, self }: Dependencies, { endpoint, client, isGood }: Wanted) =>
  Effect.map(
    store.change<Step>(endpoint.id, (before, { nowMs }) => {
      const ours = before?.fingerprint === client.fingerprint ? before : undefined
      const found = openedToken(seal, endpoint.id, ours)
      if (found !== undefined && isGood(found, nowMs)) return kept<Step>({ found })
      if (ours?.getting != null && ours.getting.untilMs > nowMs) return kept<Step>({ wait: true })
      const getting = { by: self, untilMs: nowMs + leaseMs }
      const next = { fingerprint: client.fingerprint, token: ours?.token ?? null, getting }
      return Result.succeed({ answer: { get: true as const }, next })
    }),
    ({ answer }) => answer
  )

const openedToken = (seal: SecretSeal, id: string, record: TokenRecord | undefined): AccessToken | undefined => {
  if (record?.token == null) return undefined
  const { sealed, ...rest } = record.token
  return Option.getOrUndefined(
    Option.map(Result.getSuccess(seal.open(sealedFor(id), sealed)), (token) => ({ ...rest, token }))
  )
}

/** No secret of the endpoint itself can be put in a token's place. */
const sealedFor = (id: string) => `token ${id}`

const getAndShare = Effect.fnUntraced(function* (deps: Dependencies, wanted: Wanted) {
  const { endpoint, client } = wanted
  const got = yield* Effect.result(request(deps, wanted))
  const share: Effect.Effect<unknown, BusError> = deps.store.change(endpoint.id, (before) => {
    if (before?.getting?.by !== deps.self) return kept(undefined)
    if (Result.isFailure(got)) return Result.succeed({ answer: undefined, next: { ...before, getting: null } })
    const { token, ...rest } = got.success
    const sealed = { ...rest, sealed: deps.seal.seal(sealedFor(endpoint.id), token) }
    return Result.succeed({
      answer: undefined,
      next: { fingerprint: client.fingerprint, token: sealed, getting: null }
    })
  })
  yield* share.pipe(Effect.catch((error) => Effect.logDebug("an access token is not shared", error)))
  return yield* Effect.fromResult(got)
})

const answerBytesMax = 65_536

const request = Effect.fnUntraced(function* (
  { servers, clock, redact }: Dependencies & { readonly servers: EgressClient },
  { endpoint, client }: Wanted
): Effect.fn.Return<AccessToken, TokenUnavailable> {
  const { tokenUrl } = client
  const credentials = endpoint.connection?.credentials ?? {}
  const unavailable = (reason: string) => {
    const hidden = [credentials.oauthSecret ?? ""].filter((secret) => secret.length > 0)
    const clean = hidden.reduce((rest, secret) => rest.replaceAll(secret, "<redacted>"), redact(reason))
    return new TokenUnavailable({ tokenUrl, reason: clean })
  }
  const answer = yield* servers
    .request({
      method: "POST",
      url: tokenUrl,
      lane: endpoint.id,
      via: endpoint.connection?.ofTokens,
      ...tokenRequest(client, credentials, clock.currentTimeMillisUnsafe()),
      deadlineMs: requestMs,
      responseBytesMax: answerBytesMax
    })
    .pipe(Effect.mapError((error) => unavailable(`${error._tag}: ${error.message}`)))
  return yield* Effect.mapError(Effect.fromResult(readToken(answer, clock.currentTimeMillisUnsafe())), unavailable)
})
