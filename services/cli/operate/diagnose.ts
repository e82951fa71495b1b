/**
 * What is wrong with a fleet, why, and the command that fixes it: the runbooks of docs/runbooks.md as decisions over
 * facts from its processes and its console. Pure.
 */
import { Result, Schema } from "effect"
import { type SoldBelowCost, soldBelowCost } from "#gateway/contract"
import { type Finding, lossTold } from "#deploy/doctor"
import type { AbandonedSummary, Books, BrokerStream, Conditions, EndpointView, RejectedSummary } from "#console/api"

/** A process, and its readiness report; undefined if it did not answer. */
export interface ProcessFacts {
  readonly url: string
  readonly roles: ReadonlyArray<string>
  readonly checks: Readonly<Record<string, string>> | undefined
}

export interface FleetFacts {
  readonly conditions: Conditions
  /** Undefined for a remote fleet without named processes. */
  readonly processes: ReadonlyArray<ProcessFacts> | undefined
  readonly endpoints: ReadonlyArray<EndpointView>
  /** The newest of each, as far as one page reaches. */
  readonly abandoned: ReadonlyArray<AbandonedSummary>
  readonly rejected: ReadonlyArray<RejectedSummary>
  readonly streams: ReadonlyArray<BrokerStream>
  readonly books: Books
  /** Models whose longer answers cost more than their price. */
  readonly losses: ReadonlyArray<SoldBelowCost>
}

export const fleetChecks = [
  "conditions",
  "processes",
  "endpoints",
  "abandoned deliveries",
  "rejected messages",
  "streams",
  "books",
  "prices"
]

type Diagnosed = Omit<Finding, "check" | "state"> & { readonly state?: Finding["state"] }

export const diagnoseFleet = (facts: FleetFacts, nowMs: number): ReadonlyArray<Finding> => {
  const diagnoses: Readonly<Record<string, ReadonlyArray<Diagnosed>>> = {
    conditions: ofConditions(facts.conditions),
    processes: facts.processes === undefined ? [processesUnread] : ofProcesses(facts.processes),
    endpoints: facts.endpoints.flatMap((endpoint) => ofEndpoint(endpoint, nowMs)),
    "abandoned deliveries": ofAbandoned(facts.abandoned),
    "rejected messages": ofRejected(facts.rejected),
    streams: facts.streams.flatMap(ofStream),
    books: ofBooks(facts.books),
    prices: facts.losses.map(lossTold)
  }
  return fleetChecks.flatMap((check) =>
    (diagnoses[check] ?? []).map(({ state = "missing", ...finding }) => ({ check, state, ...finding }))
  )
}

/** Each condition that is to be mended itself, with what it causes. Those only worth knowing are advice. */
export const ofConditions = ({ items }: Conditions): ReadonlyArray<Finding> =>
  items
    .filter(({ causedBy }) => causedBy === null)
    .map(({ id, name, severity, title, hurts, since, commands }) => {
      const effects = items.filter(({ causedBy }) => causedBy === id).map((effect) => effect.name)
      return {
        check: "conditions",
        state: severity === "info" ? "advice" : "missing",
        what: `${title.replace(/\.$/u, "")} (${severity}, since ${since})`,
        why: effects.length === 0 ? hurts : `${hurts} It explains ${[...new Set(effects)].join(", ")}.`,
        mend: mend(name, ...commands)
      }
    })

/** The models possibly sold at a loss, by the settings that a console shows; hidden ones are not judged. Pure. */
export const lossesIn = (
  settings: ReadonlyArray<{ readonly key: string; readonly value: unknown }>
): ReadonlyArray<SoldBelowCost> => {
  const shown: Record<string, unknown> = {}
  for (const { key, value } of settings) if (value !== null) put(shown, key.split(/[.[\]]+/u).filter(Boolean), value)
  const decoded = decodeSold(listed(shown))
  return Result.isSuccess(decoded) ? soldBelowCost(decoded.success) : []
}

const Sold = Schema.Struct({
  Payments: Schema.Struct({
    OutputShare: Schema.Finite,
    Networks: Schema.Array(Schema.Struct({ Network: Schema.String, Schemes: Schema.Array(Schema.String) }))
  }),
  ModelGateway: Schema.Struct({
    Models: Schema.Array(
      Schema.Struct({
        Id: Schema.String,
        Free: Schema.Boolean,
        FlatMicroUsd: Schema.optionalKey(Schema.Finite),
        OutputMicroUsdPerMillionTokens: Schema.Finite,
        Upstreams: Schema.Array(
          Schema.Struct({
            Provider: Schema.String,
            CostOutputMicroUsdPerMillionTokens: Schema.optionalKey(Schema.Finite)
          })
        )
      })
    )
  })
})
const decodeSold = Schema.decodeUnknownResult(Sold)

const listed = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, part]) => [key, listed(part)] as const)
  const isList = entries.length > 0 && entries.every(([key]) => /^\d+$/u.test(key))
  return isList ? entries.map(([, part]) => part) : Object.fromEntries(entries)
}

/** A list is an object with its indexes as keys until it is read. */
const put = (holder: Record<string, unknown>, [name = "", ...rest]: ReadonlyArray<string>, value: unknown): void => {
  if (rest.length === 0) holder[name] = value
  else put((holder[name] ??= {}) as Record<string, unknown>, rest, value)
}

/** The commands, and the runbook with more details. */
const mend = (runbook: string, ...commands: ReadonlyArray<string>) =>
  [...commands, `docs/${runbook === "a-lost-stream" ? "operations" : "runbooks"}.md#${runbook.toLowerCase()}`].join(
    "\n"
  )

const processesUnread: Diagnosed = {
  state: "advice",
  what: "they were not checked",
  why: "a console elsewhere does not say where its processes show their readiness",
  mend: "./starling doctor --metrics http://10.0.0.7:9400"
}

const ofProcesses = (processes: ReadonlyArray<ProcessFacts>): ReadonlyArray<Diagnosed> => {
  const room = processes.some(({ checks }) => Object.values(checks ?? {}).some(isDiskFull)) ? [makeRoom] : []
  return processes.flatMap((process) => ofProcess(process, { processes, room }))
}

/** The broker's wording, whether the system refused it the bytes or it stopped itself before that. */
const isDiskFull = (text: string) => /no space left on device|insufficient (?:storage )?resources/iu.test(text)

const makeRoom = "make room on the broker's disk: remove what does not belong there, or enlarge it"

interface Around {
  readonly processes: ReadonlyArray<ProcessFacts>
  /** The first steps when the disk is full. */
  readonly room: ReadonlyArray<string>
}

const ofProcess = (process: ProcessFacts, { processes, room }: Around): ReadonlyArray<Diagnosed> => {
  const { url, roles, checks } = process
  const who = roles.length === 0 ? `the process at ${url}` : `${roles.join(", ")} at ${url}`
  if (checks === undefined) {
    const why = "it has died or hangs; its work is not done"
    return [{ what: `${who} does not answer`, why, mend: mend("StarlingPodDown", "./starling top --once") }]
  }
  const others = processes.filter((one) => one !== process && isReady(one)).flatMap((one) => one.roles)
  const goOn = roles.length > 0 && roles.every((role) => others.includes(role))
  return Object.entries(checks)
    .filter(([, text]) => text !== "ok")
    .map(([name, text]) => {
      const runbook = runbookOfCheck(name)
      const first = runbook === unusable ? room : []
      return {
        what: `${who} is not ready: ${name}: ${text}`,
        why: `it takes no work until then; ${goOn ? "other processes of its role continue" : "no other process does all of its work"}`,
        mend: mend(runbook, ...first, "./starling top --once", "./starling topology")
      }
    })
}

const isReady = ({ checks }: ProcessFacts) =>
  checks !== undefined && Object.values(checks).every((text) => text === "ok")

const unusable = "StarlingStreamsUnusable"

const runbookOfCheck = (name: string) => {
  if (name.startsWith("topology")) return "StarlingTopologyDiffers"
  if (name.startsWith("streams") || name.startsWith("broker")) return unusable
  return name.startsWith("bus") ? "StarlingBusDisconnected" : "StarlingPodDown"
}

// Same as the alert WebhookEndpointLate.
const lateMs = 300_000

const ofEndpoint = (endpoint: EndpointView, nowMs: number): ReadonlyArray<Diagnosed> => {
  const { name, faults, isEnabled, paused, breakerOpenUntilMs, parkedFrom, oldestDueAt, backlog } = endpoint
  const [fault] = faults
  if (fault !== undefined) {
    const what = `${name} cannot be used: ${fault.path} ${fault.message}`
    return [
      { what, why: "nothing is sent to it; its events wait", mend: `./starling endpoints edit ${name} --set ...` }
    ]
  }
  if (!isEnabled) return []
  if (paused !== null) {
    const what = `${name} is paused by ${paused.by} since ${paused.at}: ${paused.reason}`
    const why = `its events are kept and ${backlog} deliveries wait; it misses those older than ParkedMaxDays`
    return [{ what, why, mend: mend("WebhookEndpointPaused", `./starling endpoints resume ${name}`) }]
  }
  if ((breakerOpenUntilMs ?? 0) > nowMs) {
    const commands = [
      `./starling deliveries list --endpoint ${name} --outcome failed`,
      `./starling endpoints test ${name}`
    ]
    const why = `it accepted nothing; ${backlog} deliveries wait and use up no attempts`
    return [{ what: `${name} keeps failing: its circuit is open`, why, mend: mend("WebhookCircuitOpen", ...commands) }]
  }
  if (parkedFrom !== null) {
    const why =
      "it was made, paused or full meanwhile; it catches up from EVENTS and misses what becomes older than ParkedMaxDays"
    const command = `./starling endpoints edit ${name} --set Concurrency=64 --set BacklogMax=200000`
    return [
      { what: `${name} is behind: it waits for event ${parkedFrom}`, why, mend: mend("WebhookParkedLong", command) }
    ]
  }
  if (oldestDueAt != null && nowMs - Date.parse(oldestDueAt) > lateMs) {
    const command = `./starling endpoints edit ${name} --set Concurrency=64`
    const why = "it answers more slowly than its events come"
    return [
      {
        what: `${name} is late: its oldest delivery was due at ${oldestDueAt}`,
        why,
        mend: mend("WebhookEndpointLate", command)
      }
    ]
  }
  return []
}

/** The items of each group, newest first. */
const grouped = <A>(
  things: ReadonlyArray<A>,
  of: (thing: A) => string
): ReadonlyArray<readonly [string, ReadonlyArray<A>]> => [...Map.groupBy(things, of)]

const ofAbandoned = (abandoned: ReadonlyArray<AbandonedSummary>): ReadonlyArray<Diagnosed> =>
  grouped(abandoned, ({ endpoint }) => endpoint).map(([endpoint, all]) => ({
    what: `${all.length} to ${endpoint} were abandoned, the last at ${all[0]?.abandonedAt}`,
    why:
      all[0]?.lastError ??
      (all[0]?.lastStatus == null ? (all[0]?.reason ?? "no reason is stored") : `it answered ${all[0].lastStatus}`),
    mend: mend(
      "WebhookDeliveriesAbandoned",
      `./starling abandoned show ${all[0]?.sequence}`,
      `./starling endpoints test ${endpoint}`,
      `./starling abandoned resend --endpoint ${endpoint}`
    )
  }))

const ofRejected = (rejected: ReadonlyArray<RejectedSummary>): ReadonlyArray<Diagnosed> =>
  grouped(rejected, ({ subject }) => subject).map(([subject, all]) => ({
    what: `${all.length} on ${subject} broke their schema, the last at ${all[0]?.receivedAt}`,
    why:
      all[0]?.firstFault == null
        ? "its faults are not stored"
        : `${all[0].firstFault.path}: ${all[0].firstFault.message}`,
    mend: mend(
      "StarlingMessagesRejected",
      `./starling rejected show ${all[0]?.sequence}`,
      `./starling rejected resend ${all[0]?.sequence}`,
      `./starling rejected discard ${all[0]?.sequence}`
    )
  }))

// Same as the alert StarlingStreamFilling.
const fullShare = 0.8

const ofStream = ({ name, state, trouble, atLimit }: BrokerStream): ReadonlyArray<Diagnosed> => {
  if (state === null) {
    const why = "nothing can be read from it or written to it"
    return [{ what: `${name}: ${trouble}`, why, mend: mend("StarlingBusDisconnected", "./starling top --once") }]
  }
  const lost: ReadonlyArray<Diagnosed> =
    trouble === null
      ? []
      : [
          {
            what: `${name} was ${trouble}`,
            why: "a broken disk or an operator removed it; its content is lost unless a backup restores it",
            mend: mend("a-lost-stream", "./starling broker streams --accept-losses")
          }
        ]
  const behind: ReadonlyArray<Diagnosed> =
    state.replicasBehind.length === 0
      ? lost
      : [
          ...lost,
          {
            what: `${name} has copies that are away or behind: ${state.replicasBehind.join(", ")}`,
            why: "with one server less it may have no leader",
            mend: mend("StarlingBusDisconnected", "./starling top --once")
          }
        ]
  // One that drops its oldest messages is always full.
  if (atLimit === "evicts" || state.bytesMax === null || state.bytes < fullShare * state.bytesMax) return behind
  const share = Math.floor((100 * state.bytes) / state.bytesMax)
  const why = "at its limit it refuses messages"
  return [
    ...behind,
    { what: `${name} is ${share} % full`, why, mend: mend("StarlingStreamFilling", "./starling topology") }
  ]
}

const ofBooks = ({ books, findings }: Books): ReadonlyArray<Diagnosed> => [
  ...books
    .filter(({ isBehind }) => isBehind)
    .map(({ network, trouble }) => ({
      what: `${network} was not compared with its receipts for an hour`,
      why: trouble ?? "no settler holds the lease",
      mend: mend("PaymentBooksUnread", "./starling books list")
    })),
  ...findings.map(({ id, kind, canBeMended }) => ({
    what: `${kind} ${id}`,
    why: "the chain and the receipts disagree",
    mend: mend(
      "PaymentBooksDiffer",
      `./starling books show ${id}`,
      canBeMended ? `./starling books mend ${id}` : `./starling books accept ${id} --reason "..."`
    )
  }))
]
