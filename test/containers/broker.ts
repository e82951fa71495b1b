/** Three nats-servers in a cluster, each in its container, with the users that the deployment gives them. */
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { GenericContainer, type StartedNetwork, type StartedTestContainer, Wait } from "testcontainers"
import { bucketConfig, consumerConfig, objectStoreConfig, readyConsumersOf, streamConfig, topology } from "#bus"
import { accountsFile, fleetUsers, passwordVariable, streamKeeper, systemUser } from "../../deploy/generate/users.ts"
import type { BusAddress } from "../../dev/fixtures/bus-address.ts"
import { passwordOf } from "../support/fleet-broker.ts"
import { kill } from "./engine.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { until } from "../../dev/fixtures/eventually.ts"

export const replicas = 3

export interface Server {
  readonly name: string
  readonly id: string
  /** On this machine; the same after the container was started again. */
  readonly url: string
  readonly monitor: string
  readonly container: StartedTestContainer
}

export interface Broker {
  readonly servers: ReadonlyArray<Server>
  /** As the roles know it. */
  readonly url: string
  readonly connectAs: (user: string) => Promise<NatsConnection>
  /** Of all its servers, from this machine. */
  readonly addressAs: (user: string) => BusAddress
  /** The server that leads a stream just now. */
  readonly leaderOf: (stream: string) => Promise<Server>
  /** From now on the fleet may store so many bytes and no more; null lifts the limit. */
  readonly limitTo: (bytes: number | null) => Promise<void>
  /** Bytes that the fleet stores, as the broker counts them against a limit. */
  readonly stored: () => Promise<number>
}

const names = Array.from({ length: replicas }, (_, index) => `nats-${index + 1}`)

const configuration = (name: string) => `
server_name: ${name}
listen: 0.0.0.0:4222
http: 0.0.0.0:8222
jetstream { store_dir: /tmp/store, max_file_store: 64G, max_memory_store: 1G }
cluster {
  name: fleet
  listen: 0.0.0.0:6222
  # Clients are told their servers; what containers call each other means nothing outside.
  no_advertise: true
  routes: [${names.map((other) => `nats://${other}:6222`).join(", ")}]
}
include accounts.conf
`

const users = [...fleetUsers(topology).map(({ user }) => user), systemUser]
const passwords = Object.fromEntries(users.map((user) => [passwordVariable(user), passwordOf(user)]))

const startServer = async (name: string, network: StartedNetwork): Promise<Server> => {
  const [client, monitor] = [await freePort(), await freePort()]
  const started = await new GenericContainer("nats:2.15.1")
    .withNetwork(network)
    .withNetworkAliases(name)
    .withEnvironment(passwords)
    .withCopyContentToContainer([
      { content: configuration(name), target: "/etc/nats/server.conf" },
      { content: accountsFile(topology), target: "/etc/nats/accounts.conf" }
    ])
    .withCommand(["-c", "/etc/nats/server.conf"])
    .withExposedPorts({ container: 4_222, host: client }, { container: 8_222, host: monitor })
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/u))
    .withStartupTimeout(30_000)
    .start()
  const host = started.getHost()
  return {
    name,
    id: started.getId(),
    url: `nats://${host}:${client}`,
    monitor: `http://${host}:${monitor}`,
    container: started
  }
}

/** Ready when every stream, bucket and store exists, three times each. */
export const startBroker = async (network: StartedNetwork): Promise<Broker> => {
  const servers = await Promise.all(names.map((name) => startServer(name, network)))
  const connectAs = (user: string) =>
    connect({
      servers: servers.map(({ url }) => url),
      user,
      pass: passwordOf(user),
      // The keeper's tools are others', and know the common inbox alone.
      inboxPrefix: user === streamKeeper ? "_INBOX" : `_INBOX_${user}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      // One that was cut off is noticed within seconds.
      pingInterval: 1_000,
      maxPingOut: 2,
      waitOnFirstConnect: true
    })
  const keeper = await connectAs(streamKeeper)
  const manager = await jetstreamManager(keeper, { timeout: 10_000, checkAPI: false })
  const configs = [
    ...topology.streams.map((stream) => streamConfig(stream, replicas)),
    ...topology.buckets.map((bucket) => bucketConfig(bucket, replicas)),
    ...topology.objectStores.map((store) => objectStoreConfig(store, replicas))
  ]
  // The first waits until the servers have found each other and elected a leader.
  for (const config of configs) await once(() => manager.streams.add(config))
  for (const consumer of readyConsumersOf(topology))
    await once(() => manager.consumers.add(consumer.stream, consumerConfig(consumer)))
  await keeper.close()
  const asKeeper = async <A>(act: (manager: JetStreamManager) => Promise<A>) => {
    const connection = await connectAs(streamKeeper)
    return act(await jetstreamManager(connection, { timeout: 5_000, checkAPI: false })).finally(() =>
      connection.close()
    )
  }
  return {
    servers,
    url: names.map((name) => `nats://${name}:4222`).join(","),
    connectAs,
    addressAs: (user) => ({ url: servers.map(({ url }) => url).join(","), user, password: passwordOf(user) }),
    leaderOf: async (stream) => {
      const { cluster } = await asKeeper((manager) => manager.streams.info(stream))
      const leader = servers.find(({ name }) => name === cluster?.leader)
      if (leader === undefined) throw new Error(`nobody leads ${stream}`)
      return leader
    },
    limitTo: async (bytes) => void (await Promise.all(servers.map((server) => limit(server, bytes)))),
    stored: async () => (await asKeeper((manager) => manager.getAccountInfo())).storage
  }
}

const unlimited = 'jetstream: "enabled"'

/** A server reads its users and their limits again at a reload. */
const limit = async ({ id, container }: Server, bytes: number | null) => {
  const limited = `jetstream: { max_memory: 1G, max_file: ${bytes} }`
  const content = bytes === null ? accountsFile(topology) : accountsFile(topology).replace(unlimited, limited)
  if (bytes !== null && !content.includes(limited)) throw new Error("the accounts say nothing of JetStream")
  await container.copyContentToContainer([{ content, target: "/etc/nats/accounts.conf" }])
  await kill(id, "SIGHUP")
}

/** What the others of a cluster need to elect a leader fails until they have. */
const once = async (act: () => Promise<unknown>) => {
  const failureOf = () =>
    act().then(
      () => null,
      (error: unknown) => error
    )
  await until(failureOf, { is: null, withinMs: 30_000 })
}
