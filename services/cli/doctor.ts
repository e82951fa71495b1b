/**
 * Reports what is wrong, why, and how to fix it: for a running fleet from its console and its processes, or for a
 * cluster before the fleet is applied to it, whose checks are in deploy/doctor. Changes nothing.
 */
import { Clock, Effect } from "effect"
import { examine, type Finding, isIll, report } from "#deploy/doctor"
import type { AbandonedSummary, EndpointView, RejectedSummary } from "#console/api"
import { conditionsView, looks } from "#console/conditions"
import { framesOf, readinessOf } from "#console/readings"
import { Environment } from "#runtime"
import { CommandRefused, fileOf, misused, print } from "./console.ts"
import { addressVariable, type Client, type OnConsole, onConsole } from "./operate/client.ts"
import {
  diagnoseFleet,
  fleetChecks,
  type FleetFacts,
  lossesIn,
  ofConditions,
  type ProcessFacts
} from "./operate/diagnose.ts"
import { findTargets } from "./home-fleet.ts"
import { writeOut } from "./screen.ts"

interface Examined extends OnConsole {
  readonly kubernetes: boolean
  /** A path relative to the user's own folder. */
  readonly overlay: string | undefined
  readonly context: string | undefined
  /** The readiness addresses of processes of a remote fleet. */
  readonly metrics: ReadonlyArray<string>
  readonly json: boolean
}

export const doctor = Effect.fnUntraced(function* (order: Examined) {
  const { kubernetes, overlay, context, metrics, url } = order
  if (!kubernetes) {
    if (overlay !== undefined || context !== undefined)
      return yield* misused("--overlay and --context go with --kubernetes")
    return yield* examineFleet(order)
  }
  if (url !== undefined || metrics.length > 0)
    return yield* misused("--url and --metrics are a fleet's; leave out --kubernetes")
  yield* examineCluster(order)
})

const examineFleet = Effect.fnUntraced(function* ({ url, metrics, json }: Examined) {
  const findings = yield* onConsole({ url }, seenByConsole).pipe(
    Effect.flatMap((seen) =>
      Effect.gen(function* () {
        const facts: FleetFacts = { ...seen, processes: yield* processesOf({ url, metrics }) }
        return diagnoseFleet(facts, yield* Clock.currentTimeMillis)
      })
    ),
    Effect.catch((refused) => Effect.mapError(withoutConsole({ url, metrics }, refused), () => refused))
  )
  const wrong = findings.filter(({ state }) => state !== "advice").length
  if (json) yield* print(JSON.stringify({ ok: !isIll(findings), findings }))
  else {
    yield* Effect.forEach(report(fleetChecks, findings), print, { discard: true })
    if (wrong === 0) yield* print("nothing is wrong")
  }
  if (wrong > 0) return yield* new CommandRefused({ reason: `${wrong} to mend` })
})

// Rates need two readings.
const readAgainAfter = "3 seconds"

/** A console that answers nothing, as when the broker is away, does not hide what its processes show. */
const withoutConsole = Effect.fnUntraced(function* (order: Pick<Examined, "url" | "metrics">, refused: CommandRefused) {
  if (order.url !== undefined && order.metrics.length === 0) return yield* Effect.fail("nothing else to ask")
  const [scanOf, lookAt] = [framesOf(), looks()]
  lookAt(yield* scanOf(yield* findTargets(order.metrics)))
  yield* Effect.sleep(readAgainAfter)
  const last = lookAt(yield* scanOf(yield* findTargets(order.metrics)))
  const findings = ofConditions(conditionsView({ ...last, standing: last.again }))
  return findings.length === 0 ? yield* Effect.fail("nothing is seen") : [consoleUnread(refused), ...findings]
})

const consoleUnread = ({ reason }: CommandRefused): Finding => ({
  check: "console",
  state: "advice",
  what: `the console was not read: ${reason}`,
  why: "what follows was read from the processes themselves; what the streams keep was not looked at",
  mend: "./starling top --once"
})

/** Undefined for a remote console without named processes. */
const processesOf = Effect.fnUntraced(function* ({ url, metrics }: Pick<Examined, "url" | "metrics">) {
  const isElsewhere = (url ?? (yield* Environment)[addressVariable] ?? "") !== ""
  if (isElsewhere && metrics.length === 0) return undefined
  const targets = yield* findTargets(metrics)
  return yield* Effect.forEach(
    targets,
    ({ url: at, roles }) =>
      Effect.map(readinessOf(at), (readiness): ProcessFacts => ({ url: at, roles, checks: readiness?.checks })),
    { concurrency: 16 }
  )
})

// The configuration file and the bucket together hold no more.
const endpointPagesMax = 100
// Each is requested separately, which costs the broker a few requests.
const endpointsLookedAtMax = 50

const seenByConsole = (client: Client) =>
  Effect.gen(function* () {
    const conditions = yield* client.listConditions()
    const abandoned: ReadonlyArray<AbandonedSummary> = (yield* client.listAbandoned({ query: { limit: "200" } })).items
    const rejected: ReadonlyArray<RejectedSummary> = (yield* client.listRejected({ query: { limit: "200" } })).items
    const streams = (yield* client.listStreams()).items
    const books = yield* client.getBooks({ query: {} })
    const sold = [...(yield* settingsOf(client, "ModelGateway")), ...(yield* settingsOf(client, "Payments"))]
    return {
      conditions,
      endpoints: yield* endpointsOf(client),
      abandoned,
      rejected,
      streams,
      books,
      losses: lossesIn(sold)
    }
  })

// A thousand models have about 20,000 settings.
const settingPagesMax = 200

const settingsOf = Effect.fnUntraced(function* (client: Client, section: string) {
  const all: Array<{ readonly key: string; readonly value: unknown }> = []
  let cursor: string | null = ""
  for (let page = 0; page < settingPagesMax && cursor !== null; page += 1) {
    const at = cursor === "" ? {} : { cursor }
    const query: { section: string; limit: string; cursor?: string } = { section, limit: "200", ...at }
    const { items, nextCursor } = yield* client.listSettings({ query })
    all.push(...items)
    cursor = nextCursor
  }
  return all
})

/** All endpoints; those with the largest backlogs as shown separately, with the age of their backlog. */
const endpointsOf = Effect.fnUntraced(function* (client: Client) {
  const all: Array<EndpointView> = []
  let cursor: string | null = ""
  for (let page = 0; page < endpointPagesMax && cursor !== null; page += 1) {
    const query: { limit: string; cursor?: string } = { limit: "200", ...(cursor === "" ? {} : { cursor }) }
    const { items, nextCursor } = yield* client.listEndpoints({ query })
    all.push(...items)
    cursor = nextCursor
  }
  const waiting = all.filter(({ backlog }) => backlog > 0).toSorted((left, right) => right.backlog - left.backlog)
  const closer = yield* Effect.forEach(
    waiting.slice(0, endpointsLookedAtMax),
    ({ name }) => client.getEndpoint({ params: { name } }),
    { concurrency: 8 }
  )
  const byName = new Map(closer.map((view) => [view.name, view]))
  return all.map((view) => byName.get(view.name) ?? view)
})

const examineCluster = Effect.fnUntraced(function* ({ overlay, context, json }: Examined) {
  // The default is beside the launcher, which changes to its own folder.
  const folder = overlay === undefined ? "deploy/k8s/overlays/prod" : yield* fileOf(overlay)
  const print = (line: string) => writeOut(`${line}\n`)
  const code = yield* examine({ overlay: folder, context, isJson: json, print })
  if (code !== 0) return yield* new CommandRefused({ reason: "the cluster is not ready for the fleet" })
})
