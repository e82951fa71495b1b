/**
 * What a scenario stands on: a nats-server of its own, a receiver process, the dispatcher as a process with
 * a given configuration, and a publisher. Everything is on loopback and is ended by its pid.
 */
import { join } from "node:path"
import { jetstream, type JetStreamClient, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { startNatsServer, type TestNatsServer } from "#dev/fixtures/nats-server"
import { startHelper, startRoles } from "../children.ts"
import { useOf } from "../process-use.ts"
import type { Arrival } from "./receiver.ts"

export interface Receiver {
  readonly pid: number
  readonly url: (behaviour: string, endpoint?: number) => string
  readonly taken: () => Promise<number>
  /** Of one endpoint, named as in an arrival. */
  readonly takenAt: (endpoint: string) => Promise<number>
  readonly arrivals: () => Promise<ReadonlyArray<Arrival>>
  /** How many arrived, and how many of them for the first time at their endpoint. */
  readonly tally: () => Promise<{ readonly taken: number; readonly different: number }>
  readonly reset: () => Promise<void>
  readonly stop: () => Promise<void>
}

export const startReceiver = async (): Promise<Receiver> => {
  const { said, pid, ask, end } = await startHelper<{ port: number }>(join(import.meta.dirname, "receiver.ts"))
  return {
    pid,
    url: (behaviour, endpoint = 0) => `http://127.0.0.1:${said.port}/${behaviour}/${endpoint}`,
    taken: async () => (await ask<{ taken: number }>("count")).taken,
    takenAt: async (endpoint) => (await ask<{ taken: number }>(`count at ${endpoint}`)).taken,
    arrivals: async () => (await ask<{ arrivals: ReadonlyArray<Arrival> }>("report")).arrivals,
    tally: () => ask<{ taken: number; different: number }>("tally"),
    reset: async () => void (await ask("reset")),
    stop: async () => void (await end())
  }
}

export interface Dispatcher {
  readonly pid: number
  readonly metricsUrl: string
  readonly rssMb: () => number
  readonly cpuSeconds: () => number
  /** How it ended and how long that took. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<{ readonly code: number | null; readonly tookMs: number }>
}

export type EndpointConfiguration = Readonly<Record<string, unknown>>

/** Starts the dispatcher alone, as a container would, and waits until it is ready. */
export const startDispatcher = async (
  natsUrl: string,
  endpoints: ReadonlyArray<EndpointConfiguration>,
  delivery: Readonly<Record<string, unknown>> = {},
  sections: Readonly<Record<string, unknown>> = {}
): Promise<Dispatcher> => {
  const configuration = {
    ...sections,
    Webhooks: endpoints,
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"], ...delivery },
    Bus: { Url: natsUrl }
  }
  const secret = { LOAD_SECRET: "a-secret-for-load-tests" }
  const { pid, metrics, end } = await startRoles(["webhook-dispatcher"], configuration, secret)
  return { pid, metricsUrl: metrics, rssMb: () => useOf(pid).rssMb, cpuSeconds: () => useOf(pid).cpuSeconds, stop: end }
}

export interface Rig {
  readonly nats: TestNatsServer
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly receiver: Receiver
}

export const withRig = async <A>(use: (rig: Rig) => Promise<A>): Promise<A> => {
  const nats = await startNatsServer()
  const receiver = await startReceiver().catch(async (error: unknown) => {
    await nats.stop()
    throw error
  })
  const connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 })
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false })
    return await use({ nats, connection, jetstream: jetstream(connection), manager, receiver })
  } finally {
    await connection.close()
    await receiver.stop()
    await nats.stop()
  }
}
