/** Events as they are published, and each of them whole. */
import { memo, useDeferredValue, useMemo } from "react"
import { useRoute } from "wouter"
import { addressWith, navigate, useFilters } from "../../address.ts"
import { useMay } from "../../api/signed-in.ts"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { FilterBar, type FilterField } from "../../design/FilterBar.tsx"
import { Head } from "../../design/Head.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { count, countOf } from "../../design/words.ts"
import { useSettled } from "../../design/useSettled.ts"
import { useCatalogue } from "./catalogue.ts"
import { EventDrawer } from "./EventDrawer.tsx"
import "./events.css"
import type { EventRow } from "./feed.ts"
import { lineOf } from "#console/words"
import { Trigger } from "./Trigger.tsx"
import { type Feed, useFeed } from "./useFeed.ts"

const names = ["event", "entity", "projectId"] as const
/** Who types a filter pauses no longer between two letters: half a name is not looked for. */
const typingMs = 250

const Events = () => {
  const filters = useFilters(names)
  const { values, linkTo } = filters
  const feed = useFeed(useSettled(values, typingMs))
  const catalogue = useCatalogue()
  const [isOne, one] = useRoute("/events/:sequence")
  const mayPublish = useMay("console:write")
  const prose = useMemo(
    () => new Map(catalogue.value?.items.map(({ event, firedWhen }) => [event, firedWhen])),
    [catalogue.value]
  )
  // Each letter of a filter changes every row's link: the letter is drawn first.
  const rowLink = useDeferredValue(linkTo)
  const close = () => navigate(addressWith("/events", values))
  return (
    <>
      <Head title="Events">
        <LiveBadge feed={feed} />
        <PauseButton feed={feed} />
        {mayPublish ? (
          <Button kind="main" onClick={() => navigate(addressWith("/events/trigger", values))}>
            Trigger
          </Button>
        ) : null}
      </Head>
      <FilterBar filters={filters} fields={fields} />
      <Lines feed={feed} prose={prose} linkTo={rowLink} isFiltered={names.some((name) => values[name] !== "")} />
      {mayPublish && isOne && one.sequence === "trigger" ? <Trigger onClose={close} /> : null}
      {isOne && /^\d+$/u.test(one.sequence) ? (
        <EventDrawer key={one.sequence} sequence={one.sequence} linkTo={linkTo} onClose={close} />
      ) : null}
    </>
  )
}

export default Events

const fields: ReadonlyArray<FilterField<(typeof names)[number]>> = [
  { name: "event", label: "Event", hint: "A name or a pattern: work_item.*" },
  { name: "entity", label: "About", hint: "As workItem:<id>" },
  { name: "projectId", label: "Project", hint: "Its id" }
]

const LiveBadge = ({ feed: { state, isPaused } }: { readonly feed: Feed }) => {
  if (isPaused) return <Badge tone="wait">Paused</Badge>
  if (state === "live") return <Badge tone="good">Live</Badge>
  return <Badge tone="wait">{state === "connecting" ? "Connecting" : "Reconnecting"}</Badge>
}

const PauseButton = ({ feed: { isPaused, waitingCount, pause, resume } }: { readonly feed: Feed }) =>
  isPaused ? (
    <Button onClick={resume}>{waitingCount === 0 ? "Resume" : `Resume (${count(waitingCount)} new)`}</Button>
  ) : (
    <Button onClick={pause}>Pause</Button>
  )

interface LinesProps {
  readonly feed: Feed
  readonly prose: ReadonlyMap<string, string>
  readonly linkTo: (path: string) => string
  readonly isFiltered: boolean
}

const Lines = ({ feed, prose, linkTo, isFiltered }: LinesProps) => {
  const { lines, refused, hasOlder, older } = feed
  if (lines === undefined) return refused === undefined ? <Loading what="events" /> : <Fault refused={refused} />
  if (lines.length === 0) return <NoEvents isFiltered={isFiltered} hasOlder={hasOlder} onOlder={older} />
  return (
    <>
      <Passed feed={feed} />
      <div className="table-room">
        <table className="events" aria-label="Events, newest first">
          <thead>
            <tr>
              <th scope="col" className="when">
                When
              </th>
              <th scope="col">What happened</th>
              <th scope="col" className="minor name">
                Event
              </th>
              <th scope="col" className="minor">
                About
              </th>
              <th scope="col" className="minor">
                Project
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map((row) => (
              <Line key={row.sequence} row={row} prose={prose.get(row.event)} linkTo={linkTo} />
            ))}
          </tbody>
        </table>
      </div>
      <div className="pager">
        {hasOlder ? <Button onClick={older}>Older</Button> : null}
        <span className="soft">{countOf(lines.length, "event")} shown</span>
      </div>
    </>
  )
}

/** What went by, for who would think that the list is all there was. */
const Passed = ({ feed: { lines, passedCount } }: { readonly feed: Feed }) =>
  passedCount === 0 ? null : (
    <p className="soft above">
      The newest {count(lines?.length ?? 0)} are shown; {count(passedCount)} more went by. A filter shows fewer, Pause
      holds the list.
    </p>
  )

interface NoEventsProps {
  readonly isFiltered: boolean
  readonly hasOlder: boolean
  readonly onOlder: () => void
}

const NoEvents = ({ isFiltered, hasOlder, onOlder }: NoEventsProps) => (
  <Empty title={isFiltered ? "None of the newest events matches" : "No events yet"}>
    <p>
      {isFiltered
        ? "Use * as a wildcard: work_item.* matches every work-item event. New events appear automatically."
        : "Publish an example with Trigger, or from a terminal:"}
    </p>
    {isFiltered ? null : <pre>./starling events example work_item.merged</pre>}
    {isFiltered && hasOlder ? <Button onClick={onOlder}>Look further back</Button> : null}
  </Empty>
)

interface LineProps {
  readonly row: EventRow
  readonly prose: string | undefined
  readonly linkTo: (path: string) => string
}

/** A line is drawn once: a thousand events a second change none of those that stand. */
const Line = memo(({ row, prose, linkTo }: LineProps) => {
  const { sequence, event, storedAt, entity, projectId, envelope = null } = row
  const text = useMemo(
    () => lineOf({ event, entity, envelope: parsed(envelope), firedWhen: prose }),
    [event, entity, envelope, prose]
  )
  return (
    <tr>
      <td className="when">
        <Time at={storedAt} />
      </td>
      <td className="what">
        <a className="row-link" href={linkTo(`/events/${sequence}`)}>
          {text}
        </a>
        <code className="only-narrow">{event}</code>
      </td>
      <td className="minor">
        <a href={`#${addressWith("/events", { event })}`}>
          <code>{event}</code>
        </a>
      </td>
      <td className="minor">
        {entity === null ? "–" : <a href={`#${addressWith("/events", { entity })}`}>{shortEntity(entity)}</a>}
      </td>
      <td className="minor">
        {projectId === null ? "–" : <a href={`#${addressWith("/events", { projectId })}`}>{projectId}</a>}
      </td>
    </tr>
  )
})

const parsed = (envelope: string | null): Readonly<Record<string, unknown>> | null => {
  if (envelope === null) return null
  try {
    return JSON.parse(envelope) as Readonly<Record<string, unknown>>
  } catch {
    return null
  }
}

const shortEntity = (entity: string) => entity.replace(/([\da-f]{8})-[\da-f-]{27}$/u, "$1")
