/**
 * The complete bus for one role, from the configuration: its own connection, the topology created or awaited, and
 * readiness reported for both under the role's own name.
 */
import { join } from "node:path"
import { Effect, Layer, Redacted } from "effect"
import {
  checkCertificate,
  Health,
  InvalidConfiguration,
  Metrics,
  Platform,
  readTextFile,
  redactorLayer,
  Role,
  Secrets
} from "#runtime"
import { applyTopology, awaitTopology, topologyDifferences } from "./topology/apply.ts"
import { keepTopology } from "./topology/keeper.ts"
import { Consumers } from "./consumers.ts"
import { Kv } from "./kv/bucket.ts"
import { Leases } from "./leases.ts"
import { Mailbox } from "./mailbox.ts"
import { busConnected, busReconnects, Nats } from "./connection/connection.ts"
import { Objects } from "./objects.ts"
import { busPublished, Publisher } from "./publish.ts"
import { busConsumed, busRedelivered } from "./consume.ts"
import { busRejected, Rejections } from "./rejections.ts"
import { questionsTurnedAway, Requests } from "./request.ts"
import { StreamReader } from "./stream-reader.ts"
import { busUnusable, clockSkew, tryBroker } from "./trials.ts"
import { partOf, streamOf, topologyOf } from "./topology/topology.ts"
import { relayActive, relayBehindSince, relayConflicts, relayPosition, relayWaitingSince } from "./relay/relay.ts"

const connection = Layer.unwrap(
  Effect.gen(function* () {
    const { Bus } = yield* Platform
    const name = yield* Role
    const health = yield* Health
    // Before the first connection the broker counts as away, as after a lost one.
    const metrics = yield* Metrics
    metrics.gauge(busConnected).set({}, 0)
    let trouble: string | undefined = "not connected to the broker yet"
    yield* health.readiness(
      `bus ${name}`,
      Effect.suspend(() => (trouble === undefined ? Effect.void : Effect.fail(trouble)))
    )
    if (Bus.TlsCaFile !== undefined) yield* checkCertificate(Bus.TlsCaFile, "authorities")
    if (Bus.TlsCertificateFile !== undefined) yield* checkCertificate(Bus.TlsCertificateFile, "chain")
    const who = yield* credentialsOf(name)
    return Nats.layerWith({
      servers: Bus.Url.split(",").map((server) => server.trim()),
      name,
      ...who,
      tls: { caFile: Bus.TlsCaFile, certificateFile: Bus.TlsCertificateFile, keyFile: Bus.TlsKeyFile },
      streamOf,
      onTrouble: (reason) => void (trouble = reason)
    })
  })
)

const credentialsOf = Effect.fnUntraced(function* (role: string) {
  const { Bus } = yield* Platform
  if (Bus.PasswordsFolder !== undefined) {
    const password = (yield* secretFile("Bus.PasswordsFolder", join(Bus.PasswordsFolder, role))).trim()
    const { add } = yield* Secrets
    add(password)
    return { user: role, password: Redacted.make(password) }
  }
  const credentials =
    Bus.CredentialsFile === undefined ? undefined : yield* secretFile("Bus.CredentialsFile", Bus.CredentialsFile)
  return {
    user: Bus.User,
    password: Bus.Password,
    credentials: credentials === undefined ? undefined : Redacted.make(credentials)
  }
})

const secretFile = Effect.fnUntraced(function* (key: string, file: string) {
  const text = yield* readTextFile(file)
  if (text.trim() !== "") return text
  return yield* new InvalidConfiguration({ faults: [{ path: key, message: `${file} is empty` }] })
})

const prepare = Effect.fnUntraced(function* (deliveryLanes: number) {
  const { Bus } = yield* Platform
  const topology = topologyOf(deliveryLanes)
  const part = partOf(topology, yield* Role)
  // A role that owns no streams checks only those that it uses.
  if (Bus.Topology === "verify") yield* awaitTopology(part, Bus.Replicas)
  else {
    yield* applyTopology(topology, { mode: "create", replicas: Bus.Replicas })
    yield* Effect.forkScoped(keepTopology({ topology, replicas: Bus.Replicas }))
  }
  yield* tryBroker(part)
})

/** The services that need only the connection. */
export const busServices = Layer.mergeAll(
  Consumers.layer,
  Kv.layer,
  Mailbox.layer,
  Objects.layer,
  Leases.layer.pipe(Layer.provideMerge(StreamReader.layer)),
  Requests.layer.pipe(
    Layer.provide(Mailbox.layer),
    Layer.provideMerge(Rejections.layer),
    Layer.provideMerge(Publisher.layer)
  )
)

/** `deliveryLanes`: the topology's number of delivery lanes. */
export const busLayer = (deliveryLanes: number) =>
  busServices.pipe(
    Layer.provide(redactorLayer),
    Layer.provideMerge(Layer.effectDiscard(prepare(deliveryLanes))),
    Layer.provideMerge(connection)
  )

/** The bus's own metrics, by role. */
export const busMetrics = [
  busConnected,
  busReconnects,
  topologyDifferences,
  busUnusable,
  clockSkew,
  busPublished,
  busConsumed,
  busRedelivered,
  busRejected,
  questionsTurnedAway,
  relayConflicts,
  relayActive,
  relayPosition,
  relayWaitingSince,
  relayBehindSince
]
