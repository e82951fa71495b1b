/**
 * A frame as lines of text that fit the terminal: lines are cut in width; in height, endpoints and latencies give way.
 * Pure.
 */
import type { EndpointRow, Frame, LatencyRow, RoleRow } from "#fleet-view"

export interface Room {
  readonly columns: number
  readonly rows: number
}

type Table = ReadonlyArray<ReadonlyArray<string>>

/** Cut to the room; each line is shorter than `columns`. */
export const frameLines = (frame: Frame, room: Room): ReadonlyArray<string> => {
  const fixed = [heading(frame), "", ...align(roleTable(frame.roles)), "", ...totalLines(frame), breakerLine(frame)]
  const latencies = ["", ...align(latencyTable(frame.latencies.filter(isTold)))]
  // Busy endpoints come first, and at least three of them before any latency.
  const left = room.rows - fixed.length - 2
  const shown = Math.max(Math.min(3, frame.endpoints.length), left - latencies.length)
  const endpoints = frame.endpoints.length === 0 ? [] : ["", ...endpointLines(frame.endpoints, shown)]
  return [...fixed, ...endpoints, ...latencies].slice(0, room.rows).map((line) => fit(line, room.columns))
}

const isTold = ({ p50Ms, perSecond }: LatencyRow) => p50Ms !== null || perSecond === null

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
    row.why === "" ? row.state : `${row.state}: ${row.why}`,
    figure(row.consumedPerSecond),
    figure(row.publishedPerSecond),
    figure(row.cores),
    figure(row.residentMb, 0),
    ms(row.loopLagMs),
    row.at.replace(/^https?:\/\//u, "")
  ])
]

const totalLines = ({ totals }: Frame) =>
  Object.entries(totals).map(
    ([room, values]) =>
      `${room.padEnd(9)} ${Object.entries(values)
        .map(([name, value]) => `${name} ${figure(value)}`)
        .join("  ")}`
  )

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

// Names in the fleet come from others: a control character would move the cursor.
const fit = (line: string, columns: number) => {
  const plain = line.replaceAll(/\p{Cc}/gu, "?")
  return plain.length <= columns ? plain : `${plain.slice(0, Math.max(0, columns - 1))}…`
}
