/**
 * The fleet's current state, each second: roles, backlogs, breakers, streams, payments, latencies. Prints one frame
 * when standard output is not a terminal, or when once is enough.
 */
import { Deferred, Effect, Option } from "effect"
import { conditionsView, looks } from "#console/conditions"
import type { StandingCondition } from "#console/api"
import { type EndpointRow, type Frame, framesOf, type LatencyRow, type RoleRow, type Target } from "#console/readings"
import { noFleet, print } from "../console.ts"
import { findTargets } from "../home-fleet.ts"
import { printableLine } from "#base/printable"

const printed = { columns: 160, rows: 1_000 }

interface TopOrder {
  readonly urls: ReadonlyArray<string>
  readonly intervalSeconds: number
  readonly once: boolean
  readonly json: boolean
}

export const top = Effect.fnUntraced(function* ({ urls, intervalSeconds, once, json }: TopOrder) {
  const intervalMs = intervalSeconds * 1_000
  const next = watch(urls)
  yield* mustRun(yield* next, urls)
  const isTerminal = process.stdout.isTTY && process.stdin.isTTY
  if (once || json || !isTerminal) {
    yield* Effect.sleep(intervalMs)
    const frame = yield* next
    return yield* print(json ? JSON.stringify(frame) : frameLines(frame, printed).join("\n"))
  }
  const screen = yield* openScreen
  const draw = Effect.gen(function* () {
    yield* screen.show(frameLines(yield* next, yield* screen.room))
    // The terminal can change in between; the picture is then at most this old.
    yield* Effect.sleep(intervalMs)
  })
  yield* Effect.raceFirst(Effect.forever(draw), screen.left)
}, Effect.scoped)

const watch = (urls: ReadonlyArray<string>) => {
  const [frameAt, lookAt] = [framesOf(), looks()]
  let last: ReadonlyArray<Target> = []
  return Effect.gen(function* () {
    // While a home's fleet is briefly gone, its last addresses are read.
    last = yield* last.length === 0 ? findTargets(urls) : Effect.orElseSucceed(findTargets(urls), () => last)
    const scan = yield* frameAt(last)
    const looked = lookAt(scan)
    return { ...scan.frame, conditions: conditionsView({ ...looked, standing: looked.again }).items }
  })
}

const mustRun = Effect.fnUntraced(function* (frame: Frame, urls: ReadonlyArray<string>) {
  if (frame.roles.some(({ state }) => state !== "down")) return
  const places = Option.fromUndefinedOr(urls.length === 0 ? undefined : urls.join(", "))
  const where = Option.getOrElse(places, () => [...new Set(frame.roles.map(({ at }) => at))].join(", "))
  return yield* noFleet(`no fleet runs there, nothing answers at ${where}; start one with ./starling up`)
})

interface Screen {
  readonly room: Effect.Effect<Room>
  readonly show: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Completes when the user quits: q, Ctrl-C or Ctrl-D. */
  readonly left: Effect.Effect<void>
}

const escape = "\u001B"
const enter = `${escape}[?1049h${escape}[?25l${escape}[?7l`
const leave = `${escape}[?7h${escape}[?25h${escape}[?1049l`
const home = `${escape}[H`
const clearLine = `${escape}[K`
const clearBelow = `${escape}[J`
const leavingKeys = ["q", "Q", "\u0003", "\u0004"]

/** Needs a terminal for input and output; the scope restores it. */
const openScreen = Effect.gen(function* () {
  const left = yield* Deferred.make<void>()
  const onKeys = (keys: Buffer) => {
    const text = keys.toString("latin1")
    if (leavingKeys.some((key) => text.includes(key))) Deferred.doneUnsafe(left, Effect.void)
  }
  const { stdin, stdout } = process
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      stdin.setRawMode(true)
      stdin.on("data", onKeys)
      stdin.resume()
      stdout.write(enter)
    }),
    () =>
      Effect.sync(() => {
        stdin.off("data", onKeys)
        stdin.setRawMode(false)
        stdin.pause()
        stdout.write(leave)
      })
  )
  const screen: Screen = {
    room: Effect.sync(() => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })),
    show: (lines) =>
      Effect.sync(() => void stdout.write(`${home}${lines.map((line) => line + clearLine).join("\r\n")}${clearBelow}`)),
    left: Deferred.await(left)
  }
  return screen
})

export interface Room {
  readonly columns: number
  readonly rows: number
}

/** A frame with what is wrong. */
export interface Shown extends Frame {
  readonly conditions: ReadonlyArray<StandingCondition>
}

// More are one outage, and the roles below matter too.
const conditionLinesMax = 5

/** The worst first; what others cause is only counted. */
const conditionLines = (all: ReadonlyArray<StandingCondition>) => {
  const causes = all.filter(({ causedBy }) => causedBy === null)
  const shown = causes.slice(0, conditionLinesMax)
  const left = all.length - shown.length
  return [
    ...shown.map(({ severity, title, since }) => `${severity.padEnd(8)}  since ${since.slice(11, 19)}  ${title}`),
    ...(left === 0 ? [] : [`          and ${left} more: ./starling doctor`])
  ]
}

type Table = ReadonlyArray<ReadonlyArray<string>>

/**
 * A frame as lines that fit the terminal: truncated in width; in height, roles that are up, endpoints and latencies are
 * reduced. Pure.
 */
export const frameLines = (frame: Shown, room: Room): ReadonlyArray<string> => {
  const above = [heading(frame), ...conditionLines(frame.conditions), ""]
  const below = ["", ...totalLines(frame, room), breakerLine(frame)]
  // Busy endpoints come first, and at least three of them before any latency.
  const endpointsMin = Math.min(3, frame.endpoints.length)
  const roles = roleLines(
    frame.roles,
    room.rows - above.length - below.length - (endpointsMin === 0 ? 0 : endpointsMin + 3)
  )
  const fixed = [...above, ...roles, ...below]
  const measured = frame.latencies.filter(isMeasured)
  const latencies = measured.length === 0 ? [] : ["", ...align(latencyTable(measured))]
  const left = room.rows - fixed.length - 3
  const shown = Math.max(endpointsMin, left - latencies.length)
  const endpoints = frame.endpoints.length === 0 ? [] : ["", ...endpointLines(frame.endpoints, shown)]
  return [...fixed, ...endpoints, ...latencies].slice(0, room.rows).map((line) => fit(line, room.columns))
}

/** Where there is too little room: first what is not up, then a row for each process. */
const roleLines = (roles: ReadonlyArray<RoleRow>, most: number) => {
  if (roles.length < most) return align(roleTable(roles))
  const up = Map.groupBy(
    roles.filter(({ state }) => state === "up"),
    ({ at }) => at
  )
  const rows = [...roles.filter(({ state }) => state !== "up"), ...[...up.values()].map(together)]
  if (rows.length < most) return align(roleTable(rows))
  const shown = Math.max(1, most - 2)
  return [...align(roleTable(rows.slice(0, shown))), `and ${rows.length - shown} more`]
}

/** The roles of one process, which has one memory and one loop. */
const together = (roles: ReadonlyArray<RoleRow>): RoleRow => {
  const [first, ...others] = roles as [RoleRow, ...Array<RoleRow>]
  const sum = (values: ReadonlyArray<number | null>) =>
    values.every((value) => value === null) ? null : values.reduce<number>((total, value) => total + (value ?? 0), 0)
  return {
    ...first,
    role: others.length === 0 ? first.role : `${first.role} +${others.length}`,
    consumedPerSecond: sum(roles.map((row) => row.consumedPerSecond)),
    publishedPerSecond: sum(roles.map((row) => row.publishedPerSecond))
  }
}

const isMeasured = ({ p50Ms, perSecond }: LatencyRow) => p50Ms !== null || perSecond === null

const heading = ({ at, roles, windowSeconds }: Frame) => {
  const down = roles.filter(({ state }) => state !== "up").length
  const state = down === 0 ? `${roles.length} roles up` : `${down} of ${roles.length} roles not up`
  const window = windowSeconds > 0 ? `rates over ${windowSeconds.toFixed(1)} s` : "no rates yet"
  return `starling  ${at}  ${state}  ${window}`
}

const roleTable = (roles: ReadonlyArray<RoleRow>): Table => [
  ["role", "state", "in/s", "out/s", "cores", "MB", "loop p99", "at"],
  ...roles.map((row) => [
    row.role,
    row.state,
    figure(row.consumedPerSecond),
    figure(row.publishedPerSecond),
    figure(row.cores),
    figure(row.residentMb, 0),
    ms(row.loopLagMs),
    `${row.why === "" ? "" : `${row.why}  `}${row.at.replace(/^https?:\/\//u, "")}`
  ])
]

/** What is zero is left out of a line that is too long. */
const totalLines = ({ totals }: Frame, { columns }: Room) =>
  Object.entries(totals).map(([name, values]) => {
    const line = (shown: ReadonlyArray<readonly [string, number | null]>) =>
      [name.padEnd(8), ...shown.map(([what, value]) => `${what} ${figure(value)}`)].join("  ")
    const all = Object.entries(values)
    return line(all).length <= columns ? line(all) : line(all.filter(([, value]) => value !== 0))
  })

const breakerLine = ({ breakersOpen }: Frame) =>
  `breakers  ${breakersOpen.length === 0 ? "all closed" : `${breakersOpen.length} open: ${breakersOpen.join(", ")}`}`

const endpointLines = (endpoints: ReadonlyArray<EndpointRow>, most: number) => {
  const table = align([
    ["endpoint", "breaker", "backlog", "in flight", "delivered/s", "failed/s"],
    ...endpoints
      .slice(0, most)
      .map((row) => [
        row.endpoint,
        row.breaker,
        figure(row.backlog),
        figure(row.inFlight),
        figure(row.deliveredPerSecond),
        figure(row.failedPerSecond)
      ])
  ])
  return endpoints.length > most ? [...table, `and ${endpoints.length - most} more`] : table
}

const latencyTable = (latencies: ReadonlyArray<LatencyRow>): Table => [
  ["latency", "/s", "p50", "p99"],
  ...latencies.map(({ what, perSecond, p50Ms, p99Ms }) => [what, figure(perSecond), ms(p50Ms), ms(p99Ms)])
]

const figure = (value: number | null, digits = 2) => {
  if (value === null) return "-"
  const isShort = Number.isInteger(value) || Math.abs(value) >= 100
  return value.toFixed(isShort ? 0 : digits)
}

const ms = (value: number | null) => (value === null ? "-" : `${figure(value, value < 10 ? 2 : 1)} ms`)

/** Words are left-aligned; a column of numbers is right-aligned below its heading. */
const align = (rows: Table): ReadonlyArray<string> => {
  const columns = rows[0]?.map((_, column) => rows.map((row) => row[column] ?? "")) ?? []
  const padded = columns.map((cells) => {
    const width = Math.max(...cells.map((cell) => cell.length))
    const isRight = cells.slice(1).every((cell) => /^(?:-|-?\d+(?:\.\d+)?(?: ms)?)$/u.test(cell))
    return cells.map((cell) => (isRight ? cell.padStart(width) : cell.padEnd(width)))
  })
  return rows.map((_, row) =>
    padded
      .map((cells) => cells[row] ?? "")
      .join("  ")
      .trimEnd()
  )
}

// Names in the fleet come from others, and a frame consists of lines.
const fit = (line: string, columns: number) => {
  const plain = printableLine(line)
  return plain.length <= columns ? plain : `${plain.slice(0, Math.max(0, columns - 1))}…`
}
