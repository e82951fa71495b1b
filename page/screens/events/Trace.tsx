/** Who got an event, and with what answer: read again while attempts may still come. */
import { get } from "../../api/client.ts"
import { addressWith } from "../../address.ts"
import { usePages } from "../../api/pages.ts"
import { Fault } from "../../design/Said.tsx"
import { Time, useNowMs } from "../../design/Time.tsx"
import { duration } from "../../design/words.ts"
import { type DeliveryRow, OutcomeBadge } from "../deliveries/OutcomeBadge.tsx"

interface TraceProps {
  readonly sequence: number
  readonly storedAt: string
}

// The clocks of broker and dispatchers differ.
const beforeMs = 2_000
/** First attempts start within moments; of a busy event's own minutes only these are looked through. */
const withinMs = 120_000
const recentMs = 60_000
const rowsAtOnce = "200"

export const Trace = ({ sequence, storedAt }: TraceProps) => {
  const storedMs = Date.parse(storedAt)
  const isRecent = useNowMs() - storedMs < recentMs
  const since = new Date(storedMs - beforeMs).toISOString()
  const until = new Date(storedMs + withinMs).toISOString()
  const pages = usePages<DeliveryRow>(
    `trace ${sequence}`,
    async (cursor, signal) => {
      const query = {
        eventSequence: String(sequence),
        since,
        until,
        limit: rowsAtOnce,
        ...(cursor === undefined ? {} : { cursor })
      }
      return get("/deliveries", { query, signal })
    },
    isRecent ? 700 : undefined
  )
  const newest = newestOfEach(pages.rows ?? [])
  return (
    <>
      {pages.refused === undefined ? null : <Fault refused={pages.refused} onAgain={pages.reload} />}
      {newest.length === 0 && pages.rows !== undefined ? <NoEndpoint isRecent={isRecent} sequence={sequence} /> : null}
      <ul className="trace-list" aria-label="Deliveries" aria-live="polite">
        {newest.map((row) => (
          <li key={row.deliveryId}>
            <a href={`#${addressWith(`/deliveries/${row.deliveryId}`, { near: row.place })}`}>{row.endpoint}</a>
            <OutcomeBadge row={row} />
            <span className="soft">
              after {duration(row.durationMs)}, attempt {row.attempt}, <Time at={row.startedAt} />
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The newest attempt of each delivery; rows come newest first. */
const newestOfEach = (rows: ReadonlyArray<DeliveryRow>): ReadonlyArray<DeliveryRow> => [
  ...new Map(rows.toReversed().map((row) => [row.deliveryId, row])).values()
]

interface NoEndpointProps {
  readonly isRecent: boolean
  readonly sequence: number
}

const NoEndpoint = ({ isRecent, sequence }: NoEndpointProps) => (
  <p className="soft" role="status">
    {isRecent
      ? "No endpoint was called yet. Matching endpoints are called within moments; paused ones wait."
      : "No attempt within two minutes of it. No endpoint wanted it, or it waited longer:"}{" "}
    <a href="#/endpoints">endpoints</a>,{" "}
    <a href={`#${addressWith("/deliveries", { eventSequence: String(sequence) })}`}>every attempt of it</a>.
  </p>
)
