/** The broker as production has it: two clusters of three behind gateways, with the deployment's users and placement. */
import { jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { bucketConfig, consumerConfig, objectStoreConfig, readyConsumersOf, streamConfig, topology } from "#bus"
import { moneyCluster, moneyStreams, replicas } from "../../deploy/generate/streams.ts"
import { accountsFile, fleetUsers, passwordVariable, streamKeeper, systemUser } from "../../deploy/generate/users.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { startNatsServer } from "../../dev/fixtures/nats-server.ts"
import { passwordOf } from "./fleet-broker.ts"

const usualCluster = "nats"
const names = [usualCluster, moneyCluster]
// Six servers find each other and elect a leader in some five seconds.
const electedWithinMs = 60_000

/** Connections go to one server; most streams are led by others. */
export const startFleetClusters = async () => {
  const clusters = await Promise.all(
    names.map(async (name) => ({ name, gateway: await freePort(), ports: await Promise.all([0, 1, 2].map(freePort)) }))
  )
  const gateways = clusters.map(({ name, gateway }) => `{ name: ${name}, urls: ["nats://127.0.0.1:${gateway}"] }`)
  const passwords = [...fleetUsers(topology).map(({ user }) => user), systemUser].map(
    (user) => [passwordVariable(user), passwordOf(user)] as const
  )
  const start = async ({ name, gateway, ports }: (typeof clusters)[number], nth: number) =>
    startNatsServer({
      configuration: [
        accountsFile(topology),
        `server_name: ${name}-${nth}`,
        `cluster { name: ${name}, listen: "127.0.0.1:${ports[nth]}", routes: [${ports.map((port) => `"nats://127.0.0.1:${port}"`).join(", ")}] }`,
        `gateway { name: ${name}, listen: "127.0.0.1:${nth === 0 ? gateway : await freePort()}", gateways: [${gateways.join(", ")}] }`
      ].join("\n"),
      environment: Object.fromEntries(passwords)
    })
  const servers = await Promise.all(clusters.flatMap((cluster) => cluster.ports.map((_, nth) => start(cluster, nth))))
  const stop = async () => void (await Promise.all(servers.map((server) => server.stop())))
  const [first] = servers
  if (first === undefined) throw new Error("no server")
  try {
    await makeStreams(first.url)
  } catch (error) {
    await stop()
    throw error
  }
  return { ...first, stop }
}

const makeStreams = async (url: string) => {
  const keeper = await connect({ servers: url, user: streamKeeper, pass: passwordOf(streamKeeper) })
  const manager = await jetstreamManager(keeper, { checkAPI: false })
  const configs = [
    ...topology.streams.map((stream) => streamConfig(stream, replicas)),
    ...topology.buckets.map((bucket) => bucketConfig(bucket, replicas)),
    ...topology.objectStores.map((store) => objectStoreConfig(store, replicas))
  ]
  const deadline = performance.now() + electedWithinMs
  const place = async (config: (typeof configs)[number]): Promise<unknown> => {
    const cluster = moneyStreams.includes(config.name) ? moneyCluster : usualCluster
    try {
      return await manager.streams.add({ ...config, placement: { cluster, tags: [] } })
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
      return place(config)
    }
  }
  for (const config of configs) await place(config)
  for (const consumer of readyConsumersOf(topology))
    await manager.consumers.add(consumer.stream, consumerConfig(consumer))
  await keeper.close()
}
