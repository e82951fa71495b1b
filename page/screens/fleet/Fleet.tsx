/** The fleet as it is this second: roles, totals, endpoints, latencies, streams and leases. */
import { useRoute } from "wouter"
import { Badge } from "../../design/Badge.tsx"
import { Head, Tabs } from "../../design/Head.tsx"
import { Loading, NotRead } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import type { Tone } from "../../design/tone.ts"
import { count, countOf, duration, figure, rate } from "../../design/words.ts"
import { endpointAddress } from "../../endpoint-addresses.ts"
import { conditionsOf } from "./conditions.ts"
import { Conditions } from "./Conditions.tsx"
import { Histories } from "../history/Histories.tsx"
import { Timeline } from "../history/Timeline.tsx"
import "./fleet.css"
import { type Process, processesOf } from "./processes.ts"
import { Leases, Streams } from "./Streams.tsx"
import { type Frame, useFleet } from "./useFleet.ts"

const Fleet = () => {
  const [isStreams] = useRoute("/fleet/streams")
  const [isLeases] = useRoute("/fleet/leases")
  const [isHistory] = useRoute("/fleet/history")
  const [isTimeline] = useRoute("/fleet/timeline")
  return (
    <>
      <Head title="Fleet" />
      <Tabs
        label="Parts of the fleet"
        tabs={[
          { title: "Now", href: "#/fleet", isHere: !isStreams && !isLeases && !isHistory && !isTimeline },
          { title: "History", href: "#/fleet/history", isHere: isHistory },
          { title: "What happened", href: "#/fleet/timeline", isHere: isTimeline },
          { title: "Streams", href: "#/fleet/streams", isHere: isStreams },
          { title: "Leases", href: "#/fleet/leases", isHere: isLeases }
        ]}
      />
      {isStreams ? <Streams /> : isLeases ? <Leases /> : isHistory ? <Kinds /> : isTimeline ? <Timeline /> : <Now />}
    </>
  )
}

const Kinds = () => (
  <div className="form">
    <Histories heading="Roles" kind="role" />
    <Histories heading="Endpoints" kind="endpoint" isExplained={false} />
    <Histories heading="Providers of models" kind="provider" isExplained={false} />
    <Histories heading="Chains" kind="chain" isExplained={false} />
    <Histories heading="Engines of speech" kind="engine" isExplained={false} />
  </div>
)

export default Fleet

const Now = () => {
  const { frame, past, state } = useFleet()
  if (frame === undefined) {
    return state === "cut off" ? <NotRead what="The fleet" /> : <Loading what="the fleet" />
  }
  const { roles, totals, endpoints, endpointCount, latencies, at, windowSeconds, processCount, isReady } = frame
  return (
    <div className="form">
      <p className="row">
        <Badge tone={isReady ? "good" : "bad"}>{isReady ? "Ready" : "Not ready"}</Badge>
        {state === "live" ? null : <Badge tone="wait">Reconnecting</Badge>}
        <span className="soft">
          {countOf(processCount, "process", "processes")},{" "}
          {windowSeconds === 0 ? "rates in a moment" : `rates over ${figure(windowSeconds)} s`}, read <Time at={at} />
        </span>
      </p>
      <Conditions conditions={conditionsOf(frame)} shownMax={4} />
      <h2>Processes</h2>
      <Table label="Processes" rows={processesOf(roles)} columns={processColumns} keyOf={({ at: place }) => place} />
      <Totals totals={totals} past={past} />
      <h2>Endpoints</h2>
      {endpoints.length === 0 ? (
        <p className="soft">Nothing has been sent to any of them yet.</p>
      ) : (
        <Table
          label="Endpoints with the largest backlog"
          rows={endpoints}
          columns={endpointColumns}
          keyOf={({ endpoint }) => endpoint}
          linkOf={({ endpoint }) => `#${endpointAddress(endpoint)}`}
        />
      )}
      {endpointCount > endpoints.length ? (
        <p className="soft">
          The {count(endpoints.length)} with the largest backlog, of {count(endpointCount)}.
        </p>
      ) : null}
      <h2>Latencies</h2>
      <Table label="Latencies" rows={latencies} columns={latencyColumns} keyOf={({ what }) => what} />
    </div>
  )
}

interface TotalsProps {
  readonly totals: Frame["totals"]
  readonly past: ReadonlyArray<Frame["totals"]>
}

const Totals = ({ totals, past }: TotalsProps) => (
  <div className="totals">
    {Object.entries(totals).map(([group, values]) => (
      <section key={group} className="card">
        <h3>{words(group)}</h3>
        <dl>
          {Object.entries(values).map(([name, value]) => (
            <div key={name} className="total">
              <dt>{`${name}/s` in values ? `all ${name}` : words(name)}</dt>
              <dd>
                <Curve values={past.map((one) => one[group]?.[name] ?? null)} />
                {totalOf(name, value)}
              </dd>
            </div>
          ))}
        </dl>
      </section>
    ))}
  </div>
)

/** `calls/s` as `calls`: the figure has the unit. */
const words = (name: string) => name.replace(/( s\/s|\/s| s)$/u, "")

const totalOf = (name: string, value: number | null) => {
  if (value === null) return "–"
  if (name.endsWith(" s/s")) return `${figure(value)} s/s`
  if (name.endsWith("/s")) return rate(value)
  return name.endsWith(" s") ? duration(value * 1_000) : figure(value)
}

/** The last two minutes as a line; the figure beside it says the same to who cannot see it. */
const Curve = ({ values }: { readonly values: ReadonlyArray<number | null> }) => {
  const known = values.map((value) => value ?? 0)
  const top = Math.max(1e-9, ...known)
  const points = known.map(
    (value, index) => `${(index / Math.max(1, known.length - 1)) * 60},${15 - (value / top) * 14}`
  )
  return (
    <svg className="curve" viewBox="0 0 60 16" width="60" height="16" aria-hidden="true">
      <polyline points={points.join(" ")} fill="none" stroke="currentColor" strokeWidth="1.2" />
    </svg>
  )
}

const tones: Readonly<Record<string, Tone>> = {
  up: "good",
  "not ready": "wait",
  down: "bad",
  closed: "good",
  "half-open": "wait",
  open: "bad",
  paused: "wait"
}
const State = ({ word }: { readonly word: string }) => <Badge tone={tones[word] ?? "quiet"}>{word}</Badge>

const processColumns: ReadonlyArray<Column<Process>> = [
  { title: "Process", cell: ({ at }) => <code>{at.replace(/^https?:\/\//u, "")}</code> },
  { title: "State", cell: ({ state }) => <State word={state} /> },
  { title: "Roles inside", cell: ({ roles }) => <RolesInside roles={roles} /> },
  { title: "CPU", cell: ({ roles: [role] }) => coresOf(role?.cores ?? null), isNumber: true, isMinor: true },
  {
    title: "Memory",
    cell: ({ roles: [role] }) => megabytesOf(role?.residentMb ?? null),
    isNumber: true,
    isMinor: true
  },
  { title: "Loop lag", cell: ({ roles: [role] }) => msOf(role?.loopLagMs ?? null), isNumber: true, isMinor: true },
  { title: "Release", cell: ({ roles: [role] }) => role?.version ?? "–", isMinor: true }
]

/** As many cores as it keeps busy. */
const coresOf = (cores: number | null) => (cores === null ? "–" : `${Math.round(cores * 100)} %`)
const megabytesOf = (megabytes: number | null) => (megabytes === null ? "–" : `${count(megabytes)} MB`)

/** Each with its traffic; its state only where it differs from a role that is up. */
const RolesInside = ({ roles }: Pick<Process, "roles">) => (
  <ul className="roles-inside">
    {roles.map(({ role, state, why, consumedPerSecond, publishedPerSecond }) => (
      <li key={role}>
        {role}
        {state === "up" ? null : (
          <>
            {" "}
            <State word={state} /> <span className="soft">{why}</span>
          </>
        )}
        {(consumedPerSecond ?? 0) + (publishedPerSecond ?? 0) === 0 ? null : (
          <span className="soft">
            {" "}
            {rate(consumedPerSecond)} in, {rate(publishedPerSecond)} out
          </span>
        )}
      </li>
    ))}
  </ul>
)

const endpointColumns: ReadonlyArray<Column<Frame["endpoints"][number]>> = [
  { title: "Endpoint", cell: ({ endpoint }) => endpoint },
  { title: "Breaker", cell: ({ breaker }) => <State word={breaker} /> },
  { title: "Backlog", cell: ({ backlog }) => count(backlog), isNumber: true },
  { title: "In flight", cell: ({ inFlight }) => count(inFlight), isNumber: true, isMinor: true },
  { title: "Delivered", cell: ({ deliveredPerSecond }) => rate(deliveredPerSecond), isNumber: true },
  { title: "Failed", cell: ({ failedPerSecond }) => rate(failedPerSecond), isNumber: true, isMinor: true }
]

const msOf = (ms: number | null) => (ms === null ? "–" : duration(ms))

const latencyColumns: ReadonlyArray<Column<Frame["latencies"][number]>> = [
  { title: "Step", cell: ({ what }) => what },
  { title: "Rate", cell: ({ perSecond }) => rate(perSecond), isNumber: true, isMinor: true },
  { title: "p50", cell: ({ p50Ms }) => msOf(p50Ms), isNumber: true },
  { title: "p99", cell: ({ p99Ms }) => msOf(p99Ms), isNumber: true }
]
