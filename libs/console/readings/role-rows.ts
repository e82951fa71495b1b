/**
 * The rows of roles: those that answer, those of unresponsive processes, and those that their fleet reports as away.
 */
import { roleNames } from "#base"
import { finite, type Reading, windowOf } from "./readings.ts"

export interface Target {
  readonly url: string
  /** The roles known to run there, for an unresponsive process. */
  readonly roles: ReadonlyArray<string>
}

export interface Readiness {
  /** What `/readyz` answers; checks of what is outside of the process can fail beside it. */
  readonly ok: boolean
  readonly checks: Readonly<Record<string, string>>
}

export interface RoleRow {
  readonly role: string
  readonly at: string
  readonly state: "up" | "not ready" | "down"
  readonly why: string
  /** The release that it runs; null if it does not answer. */
  readonly version: string | null
  readonly consumedPerSecond: number | null
  readonly publishedPerSecond: number | null
  /** The process's memory, possibly shared with other roles. */
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

/** Roles that answer, those of unresponsive processes, and those that their fleet reports as away. */
export const roleRows = (seen: Seen): ReadonlyArray<RoleRow> => {
  const rows = seen.targets.flatMap((target) => rowsAt(target, seen))
  const listed = new Set(rows.map(({ role }) => role))
  const away = [...seen.readiness].flatMap(([url, readiness]) =>
    Object.entries(readiness?.checks ?? {})
      .filter(([check, state]) => state !== "ok" && isRole(check) && !listed.has(check))
      .map(([check, state]) => unreachable(check, url, state))
  )
  return [...rows, ...away].toSorted((left, right) => orderOf(left.role) - orderOf(right.role))
}

const isRole = (name: string) => (roleNames as ReadonlyArray<string>).includes(name)
const orderOf = (role: string) => (isRole(role) ? (roleNames as ReadonlyArray<string>).indexOf(role) : roleNames.length)

const unreachable = (role: string, at: string, why: string): RoleRow => ({
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
    return (roles.length === 0 ? ["?"] : roles).map((role) => unreachable(role, url, "no answer"))
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
  if (readiness.ok) return { state: "up", why: "" } as const
  // A check named after its role, or one of the entire process; another role's check does not count here.
  const wrong = Object.entries(readiness.checks).find(
    ([check, state]) => state !== "ok" && (check.includes(role) || !roleNames.some((other) => check.includes(other)))
  )
  return wrong === undefined
    ? ({ state: "up", why: "" } as const)
    : ({ state: "not ready", why: `${wrong[0]}: ${wrong[1]}` } as const)
}
