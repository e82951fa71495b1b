/** What happened, newest first: conditions, breakers, processes, leases and acts in one list. */
import { useFilters } from "../../address.ts"
import { type Answer, get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { Badge } from "../../design/Badge.tsx"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { printable } from "../../design/shown.ts"
import { Time } from "../../design/Time.tsx"
import { kinds, toneOf } from "./timeline.ts"
import "./history.css"

type Happening = Answer<"GET", "/timeline">["items"][number]

const everyMs = 10_000

interface TimelineProps {
  /** At most so many, with the way to all of it. */
  readonly shownMax?: number
}

export const Timeline = ({ shownMax }: TimelineProps) => {
  const filters = useFilters(["kind"])
  const kind = kinds.find(({ value }) => value === filters.values.kind)?.value
  const { value, refused, reload } = useResource(
    `timeline ${kind ?? ""}`,
    (signal) => get("/timeline", { query: kind === undefined ? {} : { kind }, signal }),
    { everyMs }
  )
  const items = value?.items.slice(0, shownMax) ?? []
  return (
    <section className="timeline-part" aria-label="What happened">
      <h2>What happened</h2>
      {shownMax === undefined ? (
        <FilterBar filters={filters} fields={[{ name: "kind", label: "Only", choices: kinds }]} />
      ) : null}
      {value !== undefined ? null : refused === undefined ? (
        <Loading what="what happened" />
      ) : (
        <Fault refused={refused} onAgain={reload} />
      )}
      {value !== undefined && items.length === 0 ? <p className="soft">Nothing in the last 31 days.</p> : null}
      <ol className="happenings">
        {items.map((item) => (
          <Item key={`${item.id} ${item.at}`} {...item} />
        ))}
      </ol>
      {shownMax === undefined || items.length === 0 ? null : <a href="#/fleet/timeline">All that happened</a>}
    </section>
  )
}

const Item = ({ at, change, what, by, severity }: Happening) => (
  <li>
    <span className="soft">
      <Time at={at} />
    </span>
    <Badge tone={toneOf(change, severity)}>{change}</Badge>
    <span>
      {printable(what)}
      {by === null ? null : <span className="soft"> by {printable(by)}</span>}
    </span>
  </li>
)
