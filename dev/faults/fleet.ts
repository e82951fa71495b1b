/**
 * The fleet on which faults are played: `./starling up` in a home of its own, with an endpoint for each fault of a
 * receiver, and a provider behind a gate.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { jetstream, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { Effect, Exit, Scope } from "effect"
import { exampleEnvelope } from "#base"
import { connectionTo } from "#dev/fixtures/bus-address"
import { type Home, newHome, type RunningFleet, startFleet, starling } from "#dev/fixtures/starling"
import { startLocalUpstream } from "#dev/upstream"
import { type Gate, startGate } from "./gate.ts"

export interface FaultFleet {
  readonly home: Home
  readonly running: RunningFleet
  /** Answers the endpoints, each at `/` and its name. */
  readonly receiver: Gate
  readonly provider: Gate
  /** The broker, as the streams' keeper. */
  readonly keeper: NatsConnection
  readonly manager: JetStreamManager
  /** An event that each endpoint gets. */
  readonly publish: (envelope?: unknown) => Promise<unknown>
  /** Fails when the command does. */
  readonly command: (...words: ReadonlyArray<string>) => Promise<string>
  /** The fleet's process of this command. */
  readonly pidOf: (command: string) => number
  readonly end: () => Promise<void>
}

const event = "sandbox.leak_detected"

/** One for each fault, so that faults of endpoints are played at the same time. */
const endpointsAt = (url: string) => [
  { Name: "failing", Url: `${url}/failing`, CircuitBreaker: false },
  { Name: "given-up", Url: `${url}/given-up`, MaxAttempts: 1, CircuitBreaker: false },
  { Name: "left-alone", Url: `${url}/left-alone`, MaxAttempts: 20, InitialBackoffSeconds: 1, Jitter: 0 },
  { Name: "moving", Url: `${url}/moving` },
  { Name: "narrow", Url: `${url}/narrow`, BacklogMax: 2, Concurrency: 1, TimeoutSeconds: 300 }
]

const free = { Id: "demo/free", Upstreams: [{ Provider: "demo", Model: "demo/free" }], Free: true }

export const startFaultFleet = async (): Promise<FaultFleet> => {
  const scope = await Effect.runPromise(Scope.make())
  const upstream = await Effect.runPromise(Scope.provide(startLocalUpstream(), scope))
  const [receiver, provider] = await Promise.all([startGate(), startGate(upstream.url)])
  const home = newHome()
  const config = join(home.folder, "config.json")
  writeFileSync(
    config,
    JSON.stringify({
      Webhooks: endpointsAt(receiver.url),
      ModelGateway: { Providers: [{ Name: "demo", BaseUrl: `${provider.url}/v1` }], Models: [free] }
    })
  )
  Object.assign(home.environment, { STARLING_CONFIG: config })
  const running = await startFleet(home)
  const service = await connect(connectionTo(running.serviceBus))
  const keeper = await connect({ ...connectionTo(running.busAs("stream-keeper")), maxReconnectAttempts: -1 })
  const manager = await jetstreamManager(keeper, { checkAPI: false })
  const publish = (envelope: unknown = { ...exampleEnvelope(event), occurredAt: new Date().toISOString() }) =>
    jetstream(service).publish(`events.${event}`, JSON.stringify(envelope))
  const command = async (...words: ReadonlyArray<string>) => {
    const ran = await starling(home, ...words)
    if (ran.code !== 0) throw new Error(`./starling ${words.join(" ")}: ${ran.error}`)
    return ran.out
  }
  const pidOf = (part: string) => {
    const found = childOf(running.pid, part)
    if (found === undefined) throw new Error(`the fleet has no process of ${part}`)
    return found
  }
  const end = async () => {
    await Promise.allSettled([service.close(), keeper.close()])
    await running.stop("SIGTERM")
    receiver.close()
    provider.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    home.remove()
  }
  return { home, running, receiver, provider, keeper, manager, publish, command, pidOf, end }
}

const childOf = (parent: number, part: string) =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .find((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
        const [, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
        const isWanted = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").includes(part)
        // What watches over a child names only its pid.
        return ppid === String(parent) && isWanted
      } catch {
        // It ended while we looked.
        return false
      }
    })
