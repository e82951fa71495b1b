/**
 * The fleet on which faults are played: `./starling up` in a home of its own, beside it processes that are cut off,
 * restarted with other settings or slowed down, and around it a provider, receivers, a chain and a collector of traces
 * behind gates.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { jetstream, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { Effect, Exit, Scope } from "effect"
import { exampleEnvelope } from "#base"
import { connectionTo } from "#dev/fixtures/bus-address"
import { freePort } from "#dev/fixtures/free-port"
import { type Home, newHome, type RunningFleet, startFleet, starling } from "#dev/fixtures/starling"
import { smallDisk } from "./disk.ts"
import { type Outside, outsideOf, settingsOf, shopOf, shopSecrets, sweeperOf } from "./outside.ts"
import { type Pod, podPlace, startPod } from "./pod.ts"

export interface FaultFleet {
  readonly home: Home
  readonly running: RunningFleet
  readonly outside: Outside
  readonly pods: Pods
  /** The broker, as the streams' keeper. */
  readonly keeper: NatsConnection
  readonly manager: JetStreamManager
  /** An event that each endpoint gets. */
  readonly publish: (envelope?: unknown) => Promise<unknown>
  /** Fails when the command does. */
  readonly command: (...words: ReadonlyArray<string>) => Promise<string>
  /** Of the fleet's process with this command. */
  readonly pidOf: (command: string) => number
  readonly end: () => Promise<void>
}

interface Pods {
  /** Two further sweepers. */
  readonly far: Pod
  readonly near: Pod
  /** A further gateway with its verifier and settler, on a network of its own. */
  readonly shop: Pod
  readonly shopPort: number
}

/** A few callers fill it. */
const littleRoom = { SPEECH_SEQUENCER_SESSIONS_MAX: "3", AUDIO_ENCODERS_MAX: "2" }

const shopRoles = ["model-gateway", "payment-verifier", "payment-settler"]

export const startFaultFleet = async (): Promise<FaultFleet> => {
  const scope = await Effect.runPromise(Scope.make())
  const home = newHome(littleRoom)
  const removeDisk = smallDisk(home.folder)
  const outside = await Effect.runPromise(Scope.provide(outsideOf(home.folder), scope))
  const places = { far: await podPlace(), near: await podPlace(), shop: await podPlace() }
  const config = join(home.folder, "config.json")
  const processes = Object.values(places).map(({ url }) => url)
  writeFileSync(config, JSON.stringify(settingsOf(outside, processes)))
  Object.assign(home.environment, { STARLING_CONFIG: config })
  const running = await startFleet(home)
  const at = { fleet: running, folder: home.folder }
  const shopPort = await freePort()
  const shop = { configuration: shopOf(outside, { port: shopPort }), environment: shopSecrets(outside) }
  const [far, near, seller] = await Promise.all([
    startPod({ ...at, name: "far", roles: ["sweeper"], ...places.far, configuration: sweeperOf }),
    startPod({ ...at, name: "near", roles: ["sweeper"], ...places.near, configuration: sweeperOf }),
    startPod({ ...at, name: "shop", roles: shopRoles, ...places.shop, ...shop })
  ])
  const pods = { far, near, shop: seller, shopPort }
  const service = await connect({ ...connectionTo(running.serviceBus), maxReconnectAttempts: -1 })
  const keeper = await connect({ ...connectionTo(running.busAs("stream-keeper")), maxReconnectAttempts: -1 })
  const manager = await jetstreamManager(keeper, { checkAPI: false })
  const end = async () => {
    await Promise.allSettled([service.close(), keeper.close(), ...[far, near, seller].map((pod) => pod.stop())])
    await running.stop("SIGTERM")
    await Effect.runPromise(Scope.close(scope, Exit.void))
    removeDisk()
    home.remove()
  }
  return { home, running, outside, pods, keeper, manager, ...actsOn(home, running, service), end }
}

const event = "sandbox.leak_detected"

const actsOn = (home: Home, running: RunningFleet, service: NatsConnection) => ({
  publish: (envelope: unknown = { ...exampleEnvelope(event), occurredAt: new Date().toISOString() }) =>
    jetstream(service).publish(`events.${event}`, JSON.stringify(envelope)),
  command: async (...words: ReadonlyArray<string>) => {
    const ran = await starling(home, ...words)
    if (ran.code !== 0) throw new Error(`./starling ${words.join(" ")}: ${ran.error}`)
    return ran.out
  },
  pidOf: (command: string) => {
    const found = childOf(running.pid, command)
    if (found === undefined) throw new Error(`the fleet has no process of ${command}`)
    return found
  }
})

const childOf = (parent: number, part: string) =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .find((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
        const [, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
        const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ")
        return ppid === String(parent) && command.includes(part)
      } catch {
        // It ended while we looked.
        return false
      }
    })
