/**
 * The frame of `top`, as data: the roles of a fleet and their readiness, its endpoints, totals and latencies. Made from
 * two readings, and from each process's readiness. Pure.
 *
 * Reads every process at once, and makes a frame of the last few readings. A process that does not answer in time
 * delays no other and is shown as down.
 */
import { Clock, Effect, Result, Schema } from "effect"
import { isoTime, roleNames } from "#base"
import { textAt } from "#runtime"
import { type Exposition, finite, parseExposition, type Reading, type Window, windowOf } from "./readings.ts"

export interface EndpointRow {
  readonly endpoint: string
  readonly breaker: "closed" | "half-open" | "open" | "paused"
  readonly backlog: number
  readonly inFlight: number
  readonly deliveredPerSecond: number | null
  readonly failedPerSecond: number | null
}

export interface LatencyRow {
  readonly what: string
  readonly perSecond: number | null
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** A program that calls the model gateway, with its calls since the gateway's processes began. */
export interface CallerRow {
  readonly client: string
  readonly answered: number
  readonly quoted: number
  readonly refused: number
  readonly failed: number
}

/** What the model gateway refused, or did not give to a provider, by the key of the request. */
export interface KeyRow {
  /** The code of the refusal; null where the key was left out and the call went on. */
  readonly code: string | null
  readonly key: string
  readonly calls: number
}

/** Rates are null before a second reading; latencies also when nothing happened. */
export interface Frame {
  readonly at: string
  readonly windowSeconds: number
  readonly roles: ReadonlyArray<RoleRow>
  readonly totals: Readonly<Record<string, Readonly<Record<string, number | null>>>>
  readonly endpoints: ReadonlyArray<EndpointRow>
  readonly breakersOpen: ReadonlyArray<string>
  readonly latencies: ReadonlyArray<LatencyRow>
  /** The most calls first. */
  readonly callers: ReadonlyArray<CallerRow>
  readonly keys: ReadonlyArray<KeyRow>
}

export const frameOf = (seen: Seen): Frame => {
  const window = windowOf(seen.before, seen.after)
  return {
    at: isoTime(seen.after.atMs),
    windowSeconds: window.seconds,
    roles: roleRows(seen),
    totals: totalsOf(window),
    endpoints: endpointRows(window),
    breakersOpen: breakersOf(window),
    latencies: latencyRows(window),
    callers: callerRows(window),
    keys: keyRows(window)
  }
}

const breakerNames = ["closed", "half-open", "open"] as const

const endpointRows = (window: Window): ReadonlyArray<EndpointRow> =>
  window
    .values("webhook_backlog", "endpoint")
    .map((endpoint): EndpointRow => {
      const of = { endpoint }
      const delivered = window.rate("webhook_deliveries_total", { endpoint, outcome: "delivered" })
      const attempts = window.rate("webhook_attempts_total", of)
      const good = window.rate("webhook_attempts_total", { endpoint, status_class: "2xx" })
      const state = breakerNames[window.most("webhook_circuit_state", of)] ?? "closed"
      return {
        endpoint,
        breaker: window.most("webhook_endpoint_paused", of) === 1 ? "paused" : state,
        // Each replica counts the backlog of them all.
        backlog: window.most("webhook_backlog", of),
        inFlight: window.now("webhook_in_flight", of),
        deliveredPerSecond: finite(delivered),
        failedPerSecond: finite(attempts - good)
      }
    })
    .toSorted((left, right) => right.backlog - left.backlog || right.inFlight - left.inFlight)

const breakersOf = (window: Window): ReadonlyArray<string> => [
  ...window
    .values("webhook_circuit_state", "endpoint")
    .filter((endpoint) => window.most("webhook_circuit_state", { endpoint }) > 0)
    .map((endpoint) => `endpoint ${endpoint}`),
  ...window.values("gateway_breaker_open", "provider").flatMap((provider) =>
    window
      .values("gateway_breaker_open", "model", { provider })
      .filter((model) => window.most("gateway_breaker_open", { provider, model }) > 0)
      .map((model) => `provider ${provider} for ${model}`)
  ),
  ...window
    .values("x402_rpc_nodes_open", "network")
    .filter((network) => window.most("x402_rpc_nodes_open", { network }) > 0)
    .map((network) => `nodes of ${network}`)
]

const totalsOf = (window: Window): Frame["totals"] => {
  const rate = (name: string, labels = {}) => finite(window.rate(name, labels))
  const payments = (outcome: string) => rate("gateway_payments_total", { outcome })
  const api = { api: "model-gateway" }
  return {
    webhooks: {
      "delivered/s": rate("webhook_deliveries_total", { outcome: "delivered" }),
      delivered: window.now("webhook_deliveries_total", { outcome: "delivered" }),
      backlog: window
        .values("webhook_backlog", "endpoint")
        .reduce((sum, endpoint) => sum + window.most("webhook_backlog", { endpoint }), 0),
      "in flight": window.now("webhook_in_flight"),
      "retries waiting": window.most("webhook_retries_waiting"),
      "oldest due s": window.most("webhook_oldest_due_age_seconds"),
      abandoned: window.now("webhook_deliveries_total", { outcome: "abandoned" })
    },
    speech: {
      streams: window.now("speech_streams_active"),
      sessions: window.now("speech_sessions_active"),
      encoders: window.now("audio_encoders_running"),
      "ended/s": rate("speech_streams_total"),
      "audio s/s": rate("speech_spoken_seconds_total"),
      underruns: window.now("speech_underruns_total")
    },
    gateway: {
      "in flight": window.now("http_requests_active", api),
      "calls/s": rate("http_requests_total", api),
      "5xx/s": rate("http_requests_total", { ...api, status: "5xx" }),
      "tokens/s": rate("gateway_tokens_total")
    },
    payments: {
      "quoted/s": payments("quoted"),
      "verified/s": payments("verified"),
      "settled/s": payments("settled"),
      settled: window.now("gateway_payments_total", { outcome: "settled" }),
      "refused/s": payments("refused"),
      verifying: window.now("payment_verifications_running"),
      keys: window.now("payment_settler_keys_held")
    },
    pipeline: {
      "commands/s": rate("actor_commands_total"),
      "events/s": rate("webhook_events_received_total"),
      ready: window.most("pipeline_ready_items"),
      "views behind": window.most("actor_views_behind"),
      "follow-ups behind": window.most("pipeline_follow_ups_behind")
    }
  }
}

const latencies: ReadonlyArray<readonly [what: string, histogram: string, labels?: Readonly<Record<string, string>>]> =
  [
    ["webhook: stored to first byte", "webhook_publish_to_first_byte_seconds"],
    ["webhook: receiver", "webhook_receiver_seconds"],
    ["webhook: stored to delivered", "webhook_publish_to_delivered_seconds"],
    ["speech: first byte", "speech_first_byte_seconds"],
    ["speech: chunk", "speech_chunk_seconds"],
    ["gateway: call", "http_request_seconds", { api: "model-gateway" }],
    ["gateway: provider", "gateway_upstream_seconds"],
    ["payment: verify", "gateway_payment_seconds", { stage: "verify" }],
    ["payment: settle", "gateway_payment_seconds", { stage: "settle" }],
    ["pipeline: call", "http_request_seconds", { api: "pipeline-api" }],
    ["pipeline: command", "actor_command_seconds"]
  ]

const latencyRows = (window: Window): ReadonlyArray<LatencyRow> =>
  latencies.map(([what, histogram, labels = {}]) => ({
    what,
    perSecond: finite(window.rate(`${histogram}_count`, labels)),
    p50Ms: finite(window.quantile(histogram, 0.5, labels) * 1_000),
    p99Ms: finite(window.quantile(histogram, 0.99, labels) * 1_000)
  }))

const callerRows = (window: Window): ReadonlyArray<CallerRow> =>
  window
    .values("gateway_client_calls_total", "client")
    .map((client): CallerRow => {
      const of = (outcome: string) => window.now("gateway_client_calls_total", { client, outcome })
      return {
        client,
        answered: of("ok"),
        quoted: of("quoted"),
        refused: of("refused"),
        failed: of("failed")
      }
    })
    .filter((row) => callsOf(row) > 0)
    .toSorted((left, right) => callsOf(right) - callsOf(left))

const callsOf = ({ answered, quoted, refused, failed }: CallerRow) => answered + quoted + refused + failed

// Some hundred keys are known: those at the end say nothing.
const keyRowsMax = 20

const keyRows = (window: Window): ReadonlyArray<KeyRow> => {
  const refused = window.values("gateway_refusals_total", "code").flatMap((code) =>
    window.values("gateway_refusals_total", "key", { code }).map((key): KeyRow => ({
      code,
      key,
      calls: window.now("gateway_refusals_total", { code, key })
    }))
  )
  const leftOut = window.values("gateway_keys_left_out_total", "key").map((key): KeyRow => ({
    code: null,
    key,
    calls: window.now("gateway_keys_left_out_total", { key })
  }))
  return [...refused, ...leftOut].toSorted((left, right) => right.calls - left.calls).slice(0, keyRowsMax)
}

export interface Target {
  readonly url: string
  /** The roles known to run there, for a process that does not answer. */
  readonly roles: ReadonlyArray<string>
}

export interface Readiness {
  readonly checks: Readonly<Record<string, string>>
}

export interface RoleRow {
  readonly role: string
  readonly at: string
  readonly state: "up" | "not ready" | "down"
  readonly why: string
  /** The release that it runs; null of one that does not answer. */
  readonly version: string | null
  readonly consumedPerSecond: number | null
  readonly publishedPerSecond: number | null
  /** The process's memory, which other roles may share. */
  readonly residentMb: number | null
  readonly cores: number | null
  readonly loopLagMs: number | null
}

export interface Seen {
  readonly before: Reading | undefined
  readonly after: Reading
  readonly targets: ReadonlyArray<Target>
  readonly readiness: ReadonlyMap<string, Readiness | undefined>
}

/** Roles that answer, those of processes that do not, and those that their fleet reports as away. */
const roleRows = (seen: Seen): ReadonlyArray<RoleRow> => {
  const rows = seen.targets.flatMap((target) => rowsAt(target, seen))
  const listed = new Set(rows.map(({ role }) => role))
  const away = [...seen.readiness].flatMap(([url, readiness]) =>
    Object.entries(readiness?.checks ?? {})
      .filter(([check, state]) => state !== "ok" && isRole(check) && !listed.has(check))
      .map(([check, state]) => gone(check, url, state))
  )
  return [...rows, ...away].toSorted((left, right) => orderOf(left.role) - orderOf(right.role))
}

const isRole = (name: string) => (roleNames as ReadonlyArray<string>).includes(name)
const orderOf = (role: string) => (isRole(role) ? (roleNames as ReadonlyArray<string>).indexOf(role) : roleNames.length)

const gone = (role: string, at: string, why: string): RoleRow => ({
  role,
  at,
  state: "down",
  why,
  version: null,
  consumedPerSecond: null,
  publishedPerSecond: null,
  residentMb: null,
  cores: null,
  loopLagMs: null
})

const rowsAt = ({ url, roles }: Target, { before, after, readiness }: Seen): ReadonlyArray<RoleRow> => {
  const exposition = after.targets.get(url)
  if (exposition === undefined) {
    return (roles.length === 0 ? ["?"] : roles).map((role) => gone(role, url, "no answer"))
  }
  const here = windowOf(before === undefined ? undefined : only(before, url), only(after, url))
  const process = {
    residentMb: finite(here.now("process_resident_memory_bytes") / 2 ** 20),
    cores: finite(here.rate("process_cpu_seconds_total")),
    loopLagMs: finite(here.now("nodejs_eventloop_lag_p99_seconds") * 1_000)
  }
  const named = here.values("bus_connected", "role").filter((role) => role !== "fleet")
  return (named.length === 0 ? roles : named).map((role) => ({
    role,
    at: url,
    ...stateOf(role, here.now("bus_connected", { role }) === 1, readiness.get(url)),
    version: here.values("starling_build_info", "version", { role })[0] ?? null,
    consumedPerSecond: finite(here.rate("bus_consumed_total", { role })),
    publishedPerSecond: finite(here.rate("bus_published_total", { role })),
    ...process
  }))
}

const only = ({ atMs, targets }: Reading, url: string): Reading => ({
  atMs,
  targets: new Map([[url, targets.get(url)]])
})

const stateOf = (role: string, isConnected: boolean, readiness: Readiness | undefined) => {
  if (!isConnected) return { state: "not ready", why: "no broker" } as const
  if (readiness === undefined) return { state: "not ready", why: "does not say whether it is ready" } as const
  // A check named after its role, or one of the whole process; another role's check does not count here.
  const wrong = Object.entries(readiness.checks).find(
    ([check, state]) => state !== "ok" && (check.includes(role) || !roleNames.some((other) => check.includes(other)))
  )
  return wrong === undefined
    ? ({ state: "up", why: "" } as const)
    : ({ state: "not ready", why: `${wrong[0]}: ${wrong[1]}` } as const)
}

/** More are work for a monitoring system. */
export const processesMax = 64

const Report = Schema.fromJsonString(Schema.Struct({ checks: Schema.Record(Schema.String, Schema.String) }))

interface Scraped {
  readonly reading: Reading
  readonly readiness: ReadonlyMap<string, Readiness | undefined>
}

const scrape = Effect.fnUntraced(function* (targets: ReadonlyArray<Target>) {
  const found = yield* Effect.forEach(
    targets,
    ({ url }) => Effect.all([metricsOf(url), readinessOf(url)], concurrent),
    {
      concurrency: 16
    }
  )
  const atMs = yield* Clock.currentTimeMillis
  const expositions = new Map<string, Exposition | undefined>()
  const readiness = new Map<string, Readiness | undefined>()
  for (const [index, { url }] of targets.entries()) {
    expositions.set(url, found[index]?.[0])
    readiness.set(url, found[index]?.[1])
  }
  const scraped: Scraped = { reading: { atMs, targets: expositions }, readiness }
  return scraped
})

const concurrent = { concurrency: "unbounded" } as const

const metricsOf = (url: string) =>
  textAt(`${url}/metrics?of=process`).pipe(
    // The answer does not come from a process of ours.
    Effect.map(({ text }) => (text.includes("process_cpu_seconds_total") ? parseExposition(text) : undefined)),
    Effect.orElseSucceed((): Exposition | undefined => undefined)
  )

/** What a process says of its readiness, whatever the status; undefined when it does not answer. */
export const readinessOf = (url: string) =>
  textAt(`${url}/readyz`).pipe(
    Effect.map(({ text }) => Result.getOrUndefined(Schema.decodeResult(Report)(text))),
    Effect.orElseSucceed((): Readiness | undefined => undefined)
  )

// A million characters of metrics take 60 ms to write and 80 ms to read: with this, at most a tenth of a core on either side.
const msPerMillionCharacters = 800
const everyMsMax = 60_000

/** How long after a reading the next one is due: by its length, for a process shows its metrics by endpoint. Pure. */
export const readAgainAfterMs = (characters: number): number => {
  const wantedMs = (characters / 1e6) * msPerMillionCharacters
  // Below a second whoever watches sets the pace.
  return wantedMs < 1_000 ? 0 : Math.min(everyMsMax, wantedMs)
}

// Enough readings for a steady rate, few enough to follow what happens.
const windowReadings = 5

/**
 * Makes a frame each time, over the last few readings: the first one has no rates. It remembers which roles ran at an
 * address that no longer answers. Readings older than `staleMs` are left out: rates over an hour are not those of now.
 * A frame that took much to read is given again until the next reading is due.
 */
export const framesOf = (staleMs = Number.POSITIVE_INFINITY) => {
  let readings: ReadonlyArray<Reading> = []
  const rolesAt = new Map<string, ReadonlyArray<string>>()
  let last: { readonly frame: Frame; readonly againAfterMs: number; readonly atMs: number } | undefined
  return Effect.fnUntraced(function* (found: ReadonlyArray<Target>): Effect.fn.Return<Frame> {
    const nowMs = yield* Clock.currentTimeMillis
    // A first frame has no rates, so the second reading is made when it is asked for.
    if (last !== undefined && last.frame.windowSeconds > 0 && nowMs - last.atMs < last.againAfterMs) return last.frame
    const { reading, readiness } = yield* scrape(found)
    const targets = found.map(({ url, roles }) => ({ url, roles: rolesAt.get(url) ?? roles }))
    const againAfterMs = readAgainAfterMs(charactersOf(reading))
    readings = readings.filter(({ atMs }) => reading.atMs - atMs <= Math.max(staleMs, windowReadings * againAfterMs))
    const frame = frameOf({ before: readings[0], after: reading, targets, readiness })
    for (const url of rolesAt.keys()) if (targets.every((target) => target.url !== url)) rolesAt.delete(url)
    for (const { url } of targets) {
      const here = frame.roles.filter(({ at, state }) => at === url && state !== "down").map(({ role }) => role)
      if (here.length > 0) rolesAt.set(url, here)
    }
    readings = [...readings, reading].slice(-windowReadings)
    last = { frame, againAfterMs, atMs: reading.atMs }
    return frame
  })
}

const charactersOf = ({ targets }: Reading) =>
  [...targets.values()].reduce((sum, exposition) => sum + (exposition?.characters ?? 0), 0)
