/**
 * The fleet as its processes show it: this one and its children, and those that the configuration names. All viewers
 * share one reading a second; without a viewer the search for conditions reads every five seconds.
 */
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { networkInterfaces } from "node:os"
import { Clock, Context, Deferred, Effect, Layer, Semaphore, Stream } from "effect"
import { roleNames } from "#base"
import { endpointsShownMax, type FleetFrame } from "#console/api"
import { type Frame, framesOf, processesMax, type Scan, type Target } from "#console/readings"
import { Addresses, Drain, MetricsSources, OpsServer } from "#runtime"
import { Configuration } from "#configuration"

export class FleetWatch extends Context.Service<
  FleetWatch,
  {
    /** A frame with rates. */
    readonly frame: Effect.Effect<ShownFrame>
    /** A frame each second, until this process drains. */
    readonly frames: Stream.Stream<ShownFrame>
    /** What the newest frame was made of. */
    readonly scan: Effect.Effect<Scan>
  }
>()("starling/console/FleetWatch") {
  static readonly layer = Layer.effect(
    FleetWatch,
    Effect.gen(function* () {
      const scanned = yield* sharedScans
      const next = Effect.map(scanned, ({ shown }) => shown)
      const ended = yield* Deferred.make<void>()
      // A listener waits for its answers to end, and these have no other end.
      const end = Effect.as(Deferred.succeed(ended, undefined), { finished: 0, handedBack: 0 })
      yield* (yield* Drain).register("views of the fleet", end)

      const frame = Effect.flatMap(next, (first) =>
        first.windowSeconds > 0 ? Effect.succeed(first) : Effect.delay(next, everyMs)
      )
      const frames = Stream.concat(Stream.fromEffect(next), Stream.fromEffectRepeat(Effect.delay(next, everyMs))).pipe(
        Stream.interruptWhen(Deferred.await(ended))
      )
      return FleetWatch.of({ frame, frames, scan: Effect.map(scanned, ({ scan }) => scan) })
    })
  )
}

const everyMs = 1_000
// A request within this time after a reading gets its frame.
const freshMs = 900
// Rates over a pause without viewers would not be current.
const staleMs = 10_000

/** Without its conditions, which are seen over a longer time. */
export type ShownFrame = Omit<FleetFrame, "conditions">

interface Found {
  readonly targets: ReadonlyArray<Target>
  readonly leftOut: number
}

/** The newest frame, remade when it is older than a second; requests arriving meanwhile wait for it. */
const sharedScans = Effect.gen(function* () {
  const frameAt = framesOf(staleMs)
  const find = yield* processes
  const addresses = yield* Addresses
  const one = yield* Semaphore.make(1)
  let last: { readonly shown: ShownFrame; readonly scan: Scan; readonly atMs: number } | undefined

  return Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    if (last !== undefined && nowMs - last.atMs < freshMs) return last
    const found = yield* find
    const scan = yield* frameAt(found.targets)
    last = { shown: frameView(scan.frame, found, yield* addresses.all), scan, atMs: yield* Clock.currentTimeMillis }
    return last
  }).pipe(one.withPermits(1))
})

/** A frame as the API shows it, truncated to its limits. Pure. */
export const frameView = (
  { endpoints, breakersOpen, ...frame }: Frame,
  { targets, leftOut }: Found,
  addresses: ReadonlyMap<string, string>
): ShownFrame => ({
  ...frame,
  isReady: frame.roles.length > 0 && frame.roles.every(({ state }) => state === "up"),
  processCount: targets.length,
  processesLeftOut: leftOut,
  addresses: Object.fromEntries(addresses),
  endpointCount: endpoints.length,
  endpoints: endpoints.slice(0, endpointsShownMax),
  breakersOpen: breakersOpen.slice(0, endpointsShownMax)
})

// A name whose lookup takes longer keeps its previous addresses.
const lookUpWithin = "1 second"

/** All processes, looked up again before each reading, because they come and go. */
const processes = Effect.gen(function* () {
  const { Console } = yield* Configuration
  const { url } = yield* OpsServer
  const { children } = yield* MetricsSources
  const known = new Map<string, ReadonlyArray<string>>()

  const targetsAt = Effect.fnUntraced(function* (named: string) {
    const { hostname } = new URL(named)
    const found = yield* Effect.tryPromise(() => lookup(hostname, { all: true })).pipe(
      Effect.timeout(lookUpWithin),
      Effect.map((all) => all.map(({ address }) => address).toSorted()),
      Effect.orElseSucceed(() => known.get(hostname) ?? [])
    )
    known.set(hostname, found)
    return targetsOf(named, found)
  })

  return Effect.gen(function* () {
    const named = yield* Effect.forEach(Console.Processes, targetsAt, { concurrency: 16 })
    const own: Target = { url: reachable(url), roles: [] }
    const ofChildren = (yield* children).map((child): Target => ({ url: reachable(child.url), roles: [child.role] }))
    const ours = ownAddresses()
    const others = named.flat().filter((target) => !isHere(target.url, own.url, ours))
    const all = [...new Map([own, ...ofChildren, ...others].map((target) => [target.url, target])).values()]
    const found: Found = { targets: all.slice(0, processesMax), leftOut: Math.max(0, all.length - processesMax) }
    return found
  })
})

/**
 * A process for each address of a name. A name without an address, and one of https, whose certificate is for the name,
 * stays unchanged. Pure.
 */
export const targetsOf = (named: string, addresses: ReadonlyArray<string>): ReadonlyArray<Target> => {
  const url = new URL(named)
  const [host = ""] = url.hostname.split(".")
  const role = host.replace(/-metrics$/u, "")
  const roles = (roleNames as ReadonlyArray<string>).includes(role) ? [role] : []
  const isName = isIP(url.hostname.replaceAll(/[[\]]/gu, "")) === 0
  if (!isName || url.protocol === "https:" || addresses.length === 0) return [{ url: url.origin, roles }]
  return addresses.map((address) => {
    const host = isIP(address) === 6 ? `[${address}]` : address
    return { url: `${url.protocol}//${host}${url.port === "" ? "" : `:${url.port}`}`, roles }
  })
}

/** A process that listens on all addresses is reached on this machine's own. */
const reachable = (url: string) => url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

const ownAddresses = () =>
  new Set(Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address)))

/** Whether a named process is this one, by its port and an address of this machine. */
const isHere = (url: string, own: string, ours: ReadonlySet<string>) => {
  const { hostname, port } = new URL(url)
  return port === new URL(own).port && ours.has(hostname.replaceAll(/[[\]]/gu, ""))
}
