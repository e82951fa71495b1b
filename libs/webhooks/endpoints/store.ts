/**
 * What is kept in KV of webhook endpoints: those made at run time, by endpoint id; and the dispatchers that live, with
 * the last change of endpoints that each acts on. A dispatcher that stops renewing its presence is gone after three
 * seconds by the broker's clock; it stops sending before, by its own.
 *
 * How secrets of endpoints are kept on the bus: sealed with AES-256-GCM when the configuration names a key, else only
 * encoded, so that nobody reads one by accident. A seal is bound to its endpoint.
 *
 * Why a change of an endpoint was not made. None of them holds a secret.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { Clock, Effect, Option, Result, Schema, Stream } from "effect"
import { type BusError, Kv, type KvBucket, StreamReader } from "#bus"
import { DispatcherPresence, EndpointRecord } from "#webhooks/contract"
import { Fault } from "#base"

/** What was given is faulty; all faults at once. */
export class InvalidEndpoint extends Schema.TaggedError<InvalidEndpoint>()("InvalidEndpoint", {
  faults: Schema.Array(Fault)
}) {
  override get message() {
    return this.faults.map(({ path, message }) => `${path}: ${message}`).join("; ")
  }
}

export class NoSuchEndpoint extends Schema.TaggedError<NoSuchEndpoint>()("NoSuchEndpoint", { name: Schema.String }) {
  override get message() {
    return `no endpoint ${this.name} was made at run time`
  }
}

/** There is one of this name that differs from what was to be made. */
export class EndpointExists extends Schema.TaggedError<EndpointExists>()("EndpointExists", { name: Schema.String }) {
  override get message() {
    return `there is an endpoint ${this.name} already`
  }
}

/** The configuration file has it: it can only be changed there. */
export class EndpointIsConfigured extends Schema.TaggedError<EndpointIsConfigured>()("EndpointIsConfigured", {
  name: Schema.String
}) {
  override get message() {
    return `the endpoint ${this.name} stands in the configuration file, and is changed there`
  }
}

/** One of this name was removed, and its deliveries are still being put away. */
export class EndpointIsLeaving extends Schema.TaggedError<EndpointIsLeaving>()("EndpointIsLeaving", {
  name: Schema.String
}) {
  override get message() {
    return `the endpoint ${this.name} was removed and a dispatcher has yet to put its deliveries away`
  }
}

/** Another change came first. */
export class EndpointWasChanged extends Schema.TaggedError<EndpointWasChanged>()("EndpointWasChanged", {
  name: Schema.String,
  revision: Schema.Int
}) {
  override get message() {
    return `the endpoint ${this.name} was changed by somebody else and is at revision ${this.revision} now`
  }
}

export class TooManyEndpoints extends Schema.TaggedError<TooManyEndpoints>()("TooManyEndpoints", {
  endpointsMax: Schema.Int
}) {
  override get message() {
    return `there are ${this.endpointsMax} endpoints, and no more can be made`
  }
}

/** Why a change was refused, or is not acted on yet. */
export type EndpointFailure =
  | InvalidEndpoint
  | NoSuchEndpoint
  | EndpointExists
  | EndpointIsConfigured
  | EndpointIsLeaving
  | EndpointWasChanged
  | TooManyEndpoints
  | NotActedOn

/** The change is stored, but a dispatcher that lives has not said in time that it acts on it. */
export class NotActedOn extends Schema.TaggedError<NotActedOn>()("NotActedOn", {
  dispatchers: Schema.Array(Schema.String),
  waitedMs: Schema.Int
}) {
  override get message() {
    return `after ${this.waitedMs} ms ${this.dispatchers.length} dispatchers do not act on the change yet: ask again`
  }
}

export interface SecretSeal {
  readonly seal: (endpointId: string, secret: string) => string
  /** Fails with why it cannot be opened. */
  readonly open: (endpointId: string, sealed: string) => Result.Result<string, string>
}

const algorithm = "aes-256-gcm"
const ivBytes = 12
const tagBytes = 16
const plain = "plain:"
const encrypted = "aes-256-gcm:"

export const secretSeal = (secretKey: string | undefined): SecretSeal => {
  const key = secretKey === undefined ? undefined : keyOf(secretKey)
  return {
    seal: (id, secret) =>
      key === undefined ? plain + encode(Buffer.from(secret)) : encrypted + encrypt(key, id, secret),
    open: (id, sealed) => {
      if (sealed.startsWith(plain)) return Result.succeed(decode(sealed.slice(plain.length)).toString("utf8"))
      if (!sealed.startsWith(encrypted)) return Result.fail("it is sealed in an unknown way")
      if (key === undefined) return Result.fail("it is sealed, and SecretsKeyEnvVar names no key")
      return Result.try({
        try: () => decrypt(key, id, sealed.slice(encrypted.length)),
        catch: () => "it is sealed with another key"
      })
    }
  }
}

const keyOf = (secretKey: string) => Buffer.from(hkdfSync("sha256", secretKey, "", "starling webhook secrets", 32))

const encode = (bytes: Buffer) => bytes.toString("base64url")
const decode = (text: string) => Buffer.from(text, "base64url")

const encrypt = (key: Buffer, endpointId: string, secret: string) => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(endpointId))
  const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()])
  return encode(Buffer.concat([iv, cipher.getAuthTag(), body]))
}

const decrypt = (key: Buffer, endpointId: string, sealed: string) => {
  const bytes = decode(sealed)
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(endpointId)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString("utf8")
}

const bucketName = "webhook-endpoints"

export interface EndpointStore {
  readonly bucket: KvBucket<EndpointRecord>
  /** The revision of the newest change that the bucket still holds, from its leader. */
  readonly lastRevision: Effect.Effect<number, BusError>
}

export const openEndpointStore = Effect.gen(function* () {
  const bucket = yield* (yield* Kv).open(bucketName, EndpointRecord)
  const { last } = yield* StreamReader
  const store: EndpointStore = {
    bucket,
    lastRevision: Effect.map(
      last(`KV_${bucketName}`, `$KV.${bucketName}.>`),
      Option.match({ onNone: () => 0, onSome: ({ sequence }) => sequence })
    )
  }
  return store
})

export const openPresences = Effect.flatMap(Kv, (kv) => kv.open("webhook-dispatchers", DispatcherPresence))

/** The life of a presence that is not renewed. */
export const presenceMs = 3_000

// A dispatcher that died is waited for during its presence's life, which the broker ends to the second.
const waitMsMax = 10_000
const lookEvery = "20 millis"

/** Waits until every dispatcher that lives acts on the revision of the endpoints' bucket. */
export const awaitActedOn = Effect.fnUntraced(function* (
  presences: KvBucket<DispatcherPresence>,
  revision: number
): Effect.fn.Return<void, BusError | NotActedOn> {
  const startedAtMs = yield* Clock.currentTimeMillis
  while (true) {
    const behind = yield* dispatchersBehind(presences, revision)
    if (behind.length === 0) return
    const waitedMs = (yield* Clock.currentTimeMillis) - startedAtMs
    if (waitedMs >= waitMsMax) return yield* new NotActedOn({ dispatchers: behind, waitedMs })
    yield* Effect.sleep(lookEvery)
  }
})

/** The dispatchers that live and do not act on that revision yet. */
export const dispatchersBehind = (presences: KvBucket<DispatcherPresence>, revision: number) =>
  Effect.map(Stream.runCollect(presences.scan("*")), (present) =>
    present.filter(({ value }) => value.actsOn < revision).map(({ key }) => key)
  )
