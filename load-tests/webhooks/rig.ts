/**
 * What a scenario stands on: a nats-server of its own, a receiver process, the dispatcher as a process with
 * a given configuration, and a publisher. Everything is on loopback and is ended by its pid.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { jetstream, type JetStreamClient, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { startNatsServer, type TestNatsServer } from "../../test/support/nats-server.ts"
import type { Arrival } from "./receiver.ts"

export interface Receiver {
  readonly url: (behaviour: string, endpoint?: number) => string
  readonly taken: () => Promise<number>
  readonly arrivals: () => Promise<ReadonlyArray<Arrival>>
  readonly reset: () => Promise<void>
  readonly stop: () => Promise<void>
}

const ask = <Answer>(child: ChildProcess, message: string) =>
  new Promise<Answer>((resolve) => {
    child.once("message", (answer) => resolve(answer as Answer))
    child.send(message)
  })

const ended = (child: ChildProcess, signal: NodeJS.Signals = "SIGTERM") =>
  new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode)
    child.once("exit", (code) => resolve(code))
    child.kill(signal)
  })

export const startReceiver = async (): Promise<Receiver> => {
  const child = fork(join(import.meta.dirname, "receiver.ts"), { serialization: "advanced" })
  const { port } = await new Promise<{ port: number }>((resolve) =>
    child.once("message", (m) => resolve(m as { port: number }))
  )
  return {
    url: (behaviour, endpoint = 0) => `http://127.0.0.1:${port}/${behaviour}/${endpoint}`,
    taken: async () => (await ask<{ taken: number }>(child, "count")).taken,
    arrivals: async () => (await ask<{ arrivals: ReadonlyArray<Arrival> }>(child, "report")).arrivals,
    reset: async () => void (await ask(child, "reset")),
    stop: async () => void (await ended(child))
  }
}

export interface Dispatcher {
  readonly pid: number
  readonly metricsUrl: string
  readonly rssMb: () => number
  /** How it ended and how long that took. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<{ readonly code: number | null; readonly tookMs: number }>
}

export type EndpointConfiguration = Readonly<Record<string, unknown>>

const freePort = 20_000 + Math.floor((process.pid % 1_000) * 10)
let portsTaken = 0

/** Starts the dispatcher alone, as a container would, and waits until it is ready. */
export const startDispatcher = async (
  natsUrl: string,
  endpoints: ReadonlyArray<EndpointConfiguration>,
  delivery: Readonly<Record<string, unknown>> = {}
): Promise<Dispatcher> => {
  const folder = mkdtempSync(join(tmpdir(), "starling-load-"))
  const port = freePort + portsTaken++
  const config = join(folder, "config.json")
  writeFileSync(
    config,
    JSON.stringify({
      Webhooks: endpoints,
      WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"], ...delivery },
      Bus: { Url: natsUrl },
      Telemetry: { Port: port, LogLevel: process.env["LOAD_LOG"] ?? "Error" }
    })
  )
  const child = spawn(process.execPath, ["services/fleet/main.ts", "role", "webhook-dispatcher"], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, STARLING_CONFIG: config, LOAD_SECRET: "a-secret-for-load-tests" }
  })
  const metricsUrl = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(`${metricsUrl}/readyz`).catch(() => undefined))?.status === 200, 60_000)
  return {
    pid: child.pid ?? 0,
    metricsUrl,
    rssMb: () => Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0) / 1_024,
    stop: async (signal = "SIGTERM") => {
      const started = performance.now()
      const code = await ended(child, signal)
      rmSync(folder, { recursive: true, force: true })
      return { code, tookMs: performance.now() - started }
    }
  }
}

export const until = async (is: () => Promise<boolean> | boolean, withinMs: number) => {
  const deadline = performance.now() + withinMs
  while (!(await is())) {
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${is.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
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
  const receiver = await startReceiver()
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

export const now = () => performance.timeOrigin + performance.now()
