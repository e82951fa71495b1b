/**
 * A signer whose key is held by another program, called over HTTP by web3signer's interface (eth1). It receives the
 * bytes to sign and hashes them itself. A signature that is not from the expected key over exactly these bytes, which
 * include the chain's id, is refused. Asking twice is harmless, so failed tries are repeated.
 */
import { Clock, Effect, Result, Schema, type Scope } from "effect"
import { ConfiguredHttp, type EgressClient, type EgressError, type EgressResponse } from "#egress"
import { afterAttempt, afterFailure, type Breaker, type BreakerLimits, breakerWaitMs, closedBreaker } from "#runtime"
import { ChainUnavailable } from "../../errors.ts"
import type { SettlerKey } from "../../scheme.ts"
import { bytesOf, hexOf, keccak256 } from "./encoding.ts"
import { addressOfPublicKey, readSignature, recoverAddress, signatureBytes } from "./signature.ts"

export interface RemoteSignerOptions {
  /** The URL before `/api/v1/eth1`. */
  readonly url: string
  /** In lower case. */
  readonly address: string
  /** For one try. */
  readonly timeoutMs: number
  /** PEM certificates that sign the signer's certificate, instead of the system's. */
  readonly trusted?: string | undefined
  /** The certificate that identifies us to the signer, and its key, as PEM. */
  readonly identity?: { readonly cert: string; readonly key: string } | undefined
}

export interface RemoteSigner extends Pick<SettlerKey, "sign"> {
  readonly isUnavailable: () => boolean
  /** Whether it is up and has the key; fails with the reason if not. */
  readonly check: Effect.Effect<void, ChainUnavailable>
}

// A settlement waits for its signature with its nonce taken, and all settlements behind it wait too.
const triesMax = 3
const firstPauseMs = 100
// As many as a process's settlements can have signed at once over kept connections.
const connectionsMax = 32
const signatureAnswerBytesMax = 1_024
// About 130 bytes per key; a signer can have thousands.
const keysAnswerBytesMax = 1_048_576
const breakerLimits: BreakerLimits = { failuresToOpen: 3, failingMsToOpen: 0, pauseMsMin: 500, pauseMsMax: 15_000 }

/** Sends no request yet: a signer that is down at the start is waited for. */
export const openRemoteSigner = Effect.fn("openRemoteSigner")(function* (
  options: RemoteSignerOptions
): Effect.fn.Return<RemoteSigner, never, ConfiguredHttp | Scope.Scope> {
  const client = yield* (yield* ConfiguredHttp).open({
    use: "signer",
    connectionsPerLaneMax: connectionsMax,
    lanesMax: 1,
    connectTimeoutMs: options.timeoutMs,
    trusted: options.trusted,
    identity: options.identity
  })
  let breaker: Breaker = closedBreaker
  // The signer's own name of the key, once known.
  let identifier: string | undefined

  const guarded = Effect.fnUntraced(function* <A>(asking: Effect.Effect<A, SignerFault>) {
    const nowMs = yield* Clock.currentTimeMillis
    if (breakerWaitMs(breaker, nowMs) > 0) return yield* new SignerFault({ detail: circuitOpen, isPassing: false })
    breaker = afterAttempt(breaker, nowMs, options.timeoutMs * triesMax)
    const result = yield* Effect.result(asking)
    const endedMs = yield* Clock.currentTimeMillis
    breaker = Result.isSuccess(result) ? closedBreaker : afterFailure(breaker, endedMs, breakerLimits)
    return yield* Effect.fromResult(result)
  })

  const find = Effect.fnUntraced(function* () {
    const found = identifierOf(yield* publicKeys(client, options), options.address)
    if (found === undefined) {
      return yield* new SignerFault({ detail: `it has no key of ${options.address}`, isPassing: false })
    }
    identifier = found
    return found
  })
  const ask = Effect.fnUntraced(function* (message: Uint8Array) {
    const known = identifier ?? (yield* find())
    const answer = yield* post(client, options, known, message)
    // The key was removed from it, or has another name since its last start.
    if (answer.status === 404) identifier = undefined
    return yield* signatureIn(answer, message, options.address)
  })
  const check = Effect.andThen(upcheck(client, options), find())
  return {
    sign: (message) => guarded(repeated(ask(message))).pipe(Effect.mapError(({ detail }) => unavailable(detail))),
    isUnavailable: () => breaker.openUntilMs !== null,
    check: Effect.asVoid(Effect.mapError(guarded(check), ({ detail }) => unavailable(detail)))
  }
})

const circuitOpen = "the remote signer keeps failing; its circuit is open"

const unavailable = (detail: string) => new ChainUnavailable({ operation: "sign", detail })

/** `isPassing`: the next try may succeed. */
class SignerFault extends Schema.TaggedError<SignerFault>()("SignerFault", {
  detail: Schema.String,
  isPassing: Schema.Boolean
}) {}

const repeated = Effect.fnUntraced(function* <A>(asking: Effect.Effect<A, SignerFault>) {
  for (let tried = 1; ; tried += 1) {
    const result = yield* Effect.result(asking)
    if (Result.isSuccess(result)) return result.success
    if (!result.failure.isPassing || tried === triesMax) return yield* result.failure
    yield* Effect.sleep(firstPauseMs * 2 ** (tried - 1))
  }
})

const urlOf = ({ url }: RemoteSignerOptions, path: string) => `${url.replace(/(?<!\/)\/+$/u, "")}${path}`

// The URL can hold a secret in its path, so no fault includes it.
const away = (error: EgressError) =>
  new SignerFault({
    detail: `the remote signer does not answer: ${error._tag === "InvalidUrl" ? error.reason : error.message}`,
    isPassing: error._tag !== "InvalidUrl" && error._tag !== "AddressRefused"
  })

const post = (client: EgressClient, options: RemoteSignerOptions, identifier: string, message: Uint8Array) =>
  Effect.mapError(
    client.request({
      method: "POST",
      url: urlOf(options, `/api/v1/eth1/sign/${identifier}`),
      headers: { accept: "text/plain", "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ data: hexOf(message) })),
      deadlineMs: options.timeoutMs,
      responseBytesMax: signatureAnswerBytesMax
    }),
    away
  )

const get = (client: EgressClient, options: RemoteSignerOptions, path: string) =>
  Effect.mapError(
    client.request({
      method: "GET",
      url: urlOf(options, path),
      headers: { accept: "*/*" },
      body: null,
      deadlineMs: options.timeoutMs,
      responseBytesMax: keysAnswerBytesMax
    }),
    away
  )

const statusFault = (status: number) =>
  new SignerFault({
    detail: `the remote signer answered ${status}`,
    isPassing: status >= 500 || status === 404 || status === 429
  })

/** The signature, verified to be from the expected key over these bytes. */
const signatureIn = Effect.fnUntraced(function* (
  { status, body, truncated }: EgressResponse,
  message: Uint8Array,
  address: string
): Effect.fn.Return<Uint8Array, SignerFault> {
  if (status !== 200) return yield* statusFault(status)
  // Some programs with this interface answer in JSON.
  const text = Buffer.from(body)
    .toString("utf8")
    .trim()
    .replace(/^"(.*)"$/u, "$1")
  const signature = readSignature(text)
  if (truncated || Result.isFailure(signature)) {
    const detail = "the remote signer's answer is no signature of 65 bytes with its s in the lower half"
    return yield* new SignerFault({ detail, isPassing: false })
  }
  const signer = recoverAddress(keccak256(message), signature.success)
  if (signer !== address) {
    const detail = `the remote signer's signature is not of ${address} over what it was sent`
    return yield* new SignerFault({ detail, isPassing: false })
  }
  return signatureBytes(signature.success)
})

const upcheck = Effect.fnUntraced(function* (client: EgressClient, options: RemoteSignerOptions) {
  const { status } = yield* get(client, options, "/upcheck")
  if (status !== 200) return yield* statusFault(status)
})

const PublicKeys = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeKeys = Schema.decodeUnknownResult(PublicKeys)

const publicKeys = Effect.fnUntraced(function* (
  client: EgressClient,
  options: RemoteSignerOptions
): Effect.fn.Return<ReadonlyArray<string>, SignerFault> {
  const { status, body, truncated } = yield* get(client, options, "/api/v1/eth1/publicKeys")
  if (status !== 200) return yield* statusFault(status)
  const keys = decodeKeys(Buffer.from(body).toString("utf8"))
  if (truncated || Result.isFailure(keys)) {
    return yield* new SignerFault({ detail: "the remote signer's list of keys cannot be read", isPassing: false })
  }
  return keys.success
})

/** The public key of the address, as the signer writes it. Pure. */
export const identifierOf = (keys: ReadonlyArray<string>, address: string): string | undefined =>
  keys.find((key) => addressOfKeyText(key) === address)

const publicKeyPattern = /^(?:0x)?(?:[0-9a-f]{2}){33,65}$/iu

/** 33 bytes, 65 bytes, or the 64 that web3signer writes; undefined if it is not a public key. */
const addressOfKeyText = (text: string): string | undefined => {
  if (!publicKeyPattern.test(text)) return undefined
  const bytes = bytesOf(text.startsWith("0x") ? text : `0x${text}`)
  return addressOfPublicKey(bytes.length === 64 ? Buffer.concat([Buffer.from([4]), bytes]) : bytes)
}
