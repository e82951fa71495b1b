/** One endpoint: all that is true of it, its newest deliveries, and what an operator does about it. */
import { type ReactNode, useState } from "react"
import { addressWith } from "../../address.ts"
import { get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { useMay } from "../../api/signed-in.ts"
import { Badge } from "../../design/Badge.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Facts } from "../../design/Facts.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { Time, useNowMs } from "../../design/Time.tsx"
import { count, countOf, duration } from "../../design/words.ts"
import { attemptsLink } from "../deliveries/DeliveryDrawer.tsx"
import { OutcomeBadge } from "../deliveries/OutcomeBadge.tsx"
import { Histories } from "../history/Histories.tsx"
import { EndpointActs } from "./EndpointActs.tsx"
import { ChangeEndpoint } from "./EndpointForm.tsx"
import { breakerOf, type EndpointRow, stateOf } from "./state.ts"

interface EndpointDrawerProps {
  readonly name: string
  readonly onClose: () => void
  readonly onChanged: () => void
}

export const EndpointDrawer = ({ name, onClose, onChanged }: EndpointDrawerProps) => {
  const [said, setSaid] = useState<ReactNode>()
  const { value, refused, reload, take } = useResource(
    `endpoint ${name}`,
    (signal) => get("/endpoints/:name", { params: { name }, signal }),
    { everyMs: 3_000 }
  )
  const mayChange = useMay("console:operate")
  const nowMs = useNowMs()
  const done = (words: ReactNode, changed?: EndpointRow) => {
    setSaid(words)
    // The next act names the change that it follows: this one.
    if (value === undefined || changed === undefined) reload()
    else take({ ...value, ...changed })
    onChanged()
  }
  const state = value === undefined ? undefined : stateOf(value, nowMs)
  return (
    <Drawer title={name} onClose={onClose}>
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {value === undefined && refused === undefined ? <Loading what="the endpoint" /> : null}
      {value === undefined || state === undefined ? null : (
        <>
          <div className="actions">
            <Badge tone={state.tone}>{state.word}</Badge>
            <EndpointActs endpoint={value} onDone={done} onRemoved={onClose} />
          </div>
          <div role="status">{said}</div>
          {value.source === "configuration" ? (
            <p className="soft">
              It is defined in the configuration file: change it there; pause, resume and test it here.
            </p>
          ) : null}
          <EndpointFacts endpoint={value} />
          <Histories kind="endpoint" things={[{ id: name, title: name }]} />
          <Newest endpoint={name} />
          {mayChange && value.source === "run-time" ? (
            <details>
              <summary>Change its settings</summary>
              <ChangeEndpoint key={value.revision} endpoint={value} onDone={(changed) => done("Changed.", changed)} />
            </details>
          ) : null}
        </>
      )}
    </Drawer>
  )
}

const EndpointFacts = ({ endpoint }: { readonly endpoint: EndpointRow }) => {
  const { settings, paused, breakerOpenUntilMs, oldestDueAt, lastDeliveredAt, inFlight, created, changed } = endpoint
  const text = (key: string) => (settings?.[key] === undefined ? null : String(settings[key]))
  const filter = settings?.["EventFilter"]
  const nowMs = useNowMs()
  const breaker = breakerOf(endpoint, nowMs)
  return (
    <Facts
      facts={[
        ["Address", text("Url")],
        ["Description", text("Description")],
        ["Events", Array.isArray(filter) && filter.length > 0 ? filter.join(", ") : "all but progress"],
        [
          "What they hold",
          settings?.["ContentFilter"] === undefined ? null : JSON.stringify(settings["ContentFilter"])
        ],
        ["Format", text("Format")],
        ["Paused", paused === null ? null : <PausedBy key="paused" paused={paused} />],
        [
          "Breaker",
          breaker === "open" ? <BreakerUntil key="breaker" untilMs={breakerOpenUntilMs ?? 0} /> : breakerWords[breaker]
        ],
        ["Backlog", countOf(endpoint.backlog, "delivery", "deliveries")],
        ["Parked from", endpoint.parkedFrom === null ? null : `event ${count(endpoint.parkedFrom)}`],
        ["In flight", inFlight == null ? "not known: endpoints share a consumer" : count(inFlight)],
        ["Oldest due", oldestDueAt == null ? "none" : <Time key="due" at={oldestDueAt} />],
        [
          "Last delivered",
          lastDeliveredAt == null ? "not in the last seven days" : <Time key="last" at={lastDeliveredAt} />
        ],
        ["Attempts", attemptsOf(settings ?? {})],
        ["Signed", signedOf(endpoint)],
        [
          "Old secret signs",
          endpoint.previousSecretUntilMs === null ? null : <Time key="old" at={endpoint.previousSecretUntilMs} />
        ],
        ["In order by", text("OrderBy")],
        ["Own headers", endpoint.headerNames.length === 0 ? null : endpoint.headerNames.join(", ")],
        ...endpoint.certificates.map(({ credential, subject, endsAt }): [string, ReactNode] => [
          credential === "tlsCa" ? "Trusts" : "Client certificate",
          <>
            {subject}, until <Time at={endsAt} />
          </>
        ]),
        [
          "Faults",
          endpoint.faults.length === 0
            ? null
            : endpoint.faults.map(({ path, message }) => `${path} ${message}`).join("; ")
        ],
        ["Added", created === null ? null : <Time key="created" at={created.at} />],
        ["Changed", changed === null ? null : <Time key="changed" at={changed.at} />]
      ]}
    />
  )
}

const attemptsOf = ({
  MaxAttempts: max,
  TimeoutSeconds: timeout,
  RetrySchedule: schedule
}: Readonly<Record<string, unknown>>) => {
  const attempts = schedule === "patient" ? "nine over two days" : `${String(max ?? 3)} at most`
  return `${attempts}, ${duration(Number(timeout ?? 10) * 1_000)} each`
}

const signedOf = ({ isSigned, hasStandardWebhooks }: EndpointRow) => {
  if (isSigned && hasStandardWebhooks) return "both ways: X-Service-Signature and Standard Webhooks"
  if (hasStandardWebhooks) return "by Standard Webhooks"
  return isSigned ? "by X-Service-Signature" : "no: anybody could have sent what it gets"
}

const PausedBy = ({ paused: { at, by, reason } }: { readonly paused: NonNullable<EndpointRow["paused"]> }) => (
  <>
    <Time at={at} /> by <code>{by}</code>: {reason}
  </>
)

const breakerWords = {
  closed: "closed",
  "half-open": "half-open: one delivery probes, the others wait for its answer"
}

const BreakerUntil = ({ untilMs }: { readonly untilMs: number }) => (
  <>
    open; tried again <Time at={untilMs} />
  </>
)

/** Its newest attempts; the way to all of them. */
const Newest = ({ endpoint }: { readonly endpoint: string }) => {
  const { value, refused } = useResource(
    `newest of ${endpoint}`,
    (signal) => get("/deliveries", { query: { endpoint, limit: "8" }, signal }),
    { everyMs: 3_000 }
  )
  return (
    <section className="form" aria-label="Newest attempts">
      <h3>
        Newest attempts (<a href={attemptsLink(endpoint)}>all</a>)
      </h3>
      {refused === undefined ? null : <Fault refused={refused} />}
      {value?.items.length === 0 ? <p className="soft">None yet. Send it a test.</p> : null}
      <ul className="trace-list">
        {value?.items.map((row) => (
          <li key={row.place}>
            <a href={`#${addressWith(`/deliveries/${row.deliveryId}`, { near: row.place })}`}>
              <code>{row.event}</code>
            </a>
            <OutcomeBadge row={row} />
            <span className="soft">
              after {duration(row.durationMs)}, <Time at={row.startedAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
