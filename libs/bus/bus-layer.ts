/**
 * The whole bus for one role, from the configuration: its own connection, the topology created or verified,
 * and readiness that follows the connection.
 */
import { Effect, Layer, Redacted } from "effect"
import { Configuration, Health, readTextFile, Role } from "#runtime"
import { applyTopology } from "./apply-topology.ts"
import { Consumers } from "./Consumers.ts"
import { Kv } from "./Kv.ts"
import { Leases } from "./Leases.ts"
import { Mailbox } from "./Mailbox.ts"
import { Nats } from "./Nats.ts"
import { Objects } from "./Objects.ts"
import { Publisher } from "./Publisher.ts"
import { Rejections } from "./Rejections.ts"
import { Requests } from "./Requests.ts"
import { StreamReader } from "./StreamReader.ts"
import { partOf } from "./topology-part.ts"
import { topology } from "./topology.ts"

const connection = Layer.unwrap(
  Effect.gen(function* () {
    const { Bus } = yield* Configuration
    const name = yield* Role
    const health = yield* Health
    let trouble: string | undefined = "not connected to the broker yet"
    yield* health.readiness(
      "bus",
      Effect.suspend(() => (trouble === undefined ? Effect.void : Effect.fail(trouble)))
    )
    const credentials = Bus.CredentialsFile === undefined ? undefined : yield* readTextFile(Bus.CredentialsFile)
    return Nats.layerWith({
      servers: Bus.Url.split(",").map((server) => server.trim()),
      name,
      user: Bus.User,
      password: Bus.Password,
      credentials: credentials === undefined ? undefined : Redacted.make(credentials),
      tls: { caFile: Bus.TlsCaFile, certificateFile: Bus.TlsCertificateFile, keyFile: Bus.TlsKeyFile },
      onTrouble: (reason) => void (trouble = reason)
    })
  })
)

const prepared = Layer.effectDiscard(
  Effect.gen(function* () {
    const { Bus } = yield* Configuration
    // Who owns no stream may look only at what it uses.
    const wanted = Bus.Topology === "verify" ? partOf(topology, yield* Role) : topology
    yield* applyTopology(wanted, { mode: Bus.Topology, replicas: Bus.Replicas })
  })
)

/** Services that need only the connection. */
export const busServices = Layer.mergeAll(
  Consumers.layer,
  Kv.layer,
  Leases.layer,
  Mailbox.layer,
  Objects.layer,
  StreamReader.layer,
  Requests.layer.pipe(Layer.provideMerge(Rejections.layer), Layer.provideMerge(Publisher.layer))
)

export const busLayer = busServices.pipe(Layer.provideMerge(prepared), Layer.provideMerge(connection))
