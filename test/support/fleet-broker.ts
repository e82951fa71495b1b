/** A nats-server with the users that the deployment gives it, and connections as them. The streams are made by NACK's. */
import { jetstreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection, PermissionViolationError, type TlsOptions } from "@nats-io/transport-node"
import { bucketConfig, consumerConfig, objectStoreConfig, readyConsumersOf, streamConfig, topology } from "#bus"
import { accountsFile, fleetUsers, passwordVariable, streamKeeper, systemUser } from "../../deploy/generate/users.ts"
import { startNatsServer } from "../../dev/fixtures/nats-server.ts"
import { accounts, keeperUser, machineUsers } from "../../services/fleet/nats-server/configuration.ts"

export const passwordOf = (user: string) => `pass-${user}`

export interface FleetBrokerOptions {
  /** The server's block `tls`, and how its streams' keeper gets through to it. */
  readonly tls?: { readonly server: string; readonly keeper: TlsOptions }
}

/** A nats-server as `up` and compose.yaml have it. The streams are made as they make them. */
export const startMachineBroker = async () => {
  const passwords = new Map(machineUsers.map(({ user }) => [user, passwordOf(user)]))
  const server = await startNatsServer({ configuration: accounts(machineUsers, passwords) })
  await makeStreams(await connectAs(server.url, keeperUser))
  return server
}

export const startFleetBroker = async ({ tls }: FleetBrokerOptions = {}) => {
  const users = [...fleetUsers(topology).map(({ user }) => user), systemUser]
  const server = await startNatsServer({
    configuration: `${accountsFile(topology)}\n${tls === undefined ? "" : `tls { ${tls.server} }`}`,
    environment: Object.fromEntries(users.map((user) => [passwordVariable(user), passwordOf(user)]))
  })
  const keeper = await connect({
    servers: tls === undefined ? server.url : `tls://localhost:${server.port}`,
    user: streamKeeper,
    pass: passwordOf(streamKeeper),
    ...(tls === undefined ? {} : { tls: tls.keeper })
  })
  await makeStreams(keeper)
  return server
}

const makeStreams = async (keeper: NatsConnection) => {
  const manager = await jetstreamManager(keeper)
  const configs = [
    ...topology.streams.map((stream) => streamConfig(stream, 1)),
    ...topology.buckets.map((bucket) => bucketConfig(bucket, 1)),
    ...topology.objectStores.map((store) => objectStoreConfig(store, 1))
  ]
  for (const config of configs) await manager.streams.add(config)
  for (const consumer of readyConsumersOf(topology))
    await manager.consumers.add(consumer.stream, consumerConfig(consumer))
  await keeper.close()
}

export const connectAs = (url: string, user: string) =>
  connect({ servers: url, user, pass: passwordOf(user), inboxPrefix: `_INBOX_${user}`, reconnect: false })

/** The broker's refusals while `act` ran, as `publish log.x.x`. */
export const refusals = async (connection: NatsConnection, act: () => void): Promise<ReadonlyArray<string>> => {
  const refused: Array<string> = []
  const watch = async () => {
    for await (const status of connection.status()) {
      if (status.type === "error" && status.error instanceof PermissionViolationError) {
        refused.push(`${status.error.operation} ${status.error.subject}`)
      }
    }
  }
  void watch()
  act()
  await connection.flush()
  // The answer to the flush comes after every refusal; refusals arrive in later turns.
  await connection.flush()
  return refused
}
