/** What was sent to whom and what came back; what was given up; and messages that broke their schema. */
import { useRoute } from "wouter"
import { navigate, addressWith, useFilters } from "../../address.ts"
import { get } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { FilterBar, type FilterField } from "../../design/FilterBar.tsx"
import { Head, Tabs } from "../../design/Head.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time, useNowMs } from "../../design/Time.tsx"
import { duration } from "../../design/words.ts"
import { type DeliveryRow, OutcomeBadge } from "./OutcomeBadge.tsx"
import { addAddress } from "../../endpoint-addresses.ts"
import { Abandoned } from "./Abandoned.tsx"
import "./deliveries.css"
import { DeliveryDrawer } from "./DeliveryDrawer.tsx"
import { Rejected } from "./Rejected.tsx"
import { ResendSince } from "./ResendSince.tsx"

const Deliveries = () => {
  const [isAbandoned] = useRoute("/deliveries/abandoned/*?")
  const [isRejected] = useRoute("/deliveries/rejected/*?")
  return (
    <>
      <Head title="Deliveries">{isAbandoned || isRejected ? null : <ResendSince />}</Head>
      <Tabs
        label="Kinds"
        tabs={[
          { title: "Attempts", href: "#/deliveries", isHere: !isAbandoned && !isRejected },
          { title: "Abandoned", href: "#/deliveries/abandoned", isHere: isAbandoned },
          { title: "Rejected messages", href: "#/deliveries/rejected", isHere: isRejected }
        ]}
      />
      {isAbandoned ? <Abandoned /> : isRejected ? <Rejected /> : <Attempts />}
    </>
  )
}

export default Deliveries

const names = ["endpoint", "outcome", "event", "eventSequence", "since", "until"] as const
const outcomes = ["delivered", "failed", "refused", "gone"] as const

const columns: ReadonlyArray<Column<DeliveryRow>> = [
  { title: "When", cell: ({ startedAt }) => <Time at={startedAt} /> },
  { title: "Outcome", cell: (row) => <OutcomeBadge row={row} /> },
  { title: "Endpoint", cell: ({ endpoint }) => endpoint },
  { title: "Event", cell: ({ event }) => <code>{event}</code>, isMinor: true },
  { title: "Attempt", cell: ({ attempt }) => attempt, isNumber: true, isMinor: true },
  { title: "Took", cell: ({ durationMs }) => duration(durationMs), isNumber: true, isMinor: true },
  {
    title: "Next",
    cell: ({ nextAttemptAt }) => <Next at={nextAttemptAt} />,
    isMinor: true
  }
]

/** One that is past has its own row. */
const Next = ({ at }: { readonly at: string | null }) => {
  const nowMs = useNowMs()
  return at === null || Date.parse(at) < nowMs ? "–" : <Time at={at} />
}

const Attempts = () => {
  const filters = useFilters(names)
  const { values } = filters
  const [isOne, one] = useRoute("/deliveries/:deliveryId")
  const outcome = outcomes.find((known) => known === values.outcome)
  const pages = usePages<DeliveryRow>(
    JSON.stringify(values),
    (cursor, signal) => {
      const query = {
        ...Object.fromEntries(names.flatMap((name) => (values[name] === "" ? [] : [[name, values[name]]]))),
        ...(outcome === undefined ? {} : { outcome }),
        ...(cursor === undefined ? {} : { cursor })
      }
      return get("/deliveries", { query, signal })
    },
    3_000
  )
  return (
    <>
      <FilterBar filters={filters} fields={fields} />
      <Pager
        pages={pages}
        what="deliveries"
        empty={<NoDeliveries isFiltered={names.some((name) => values[name] !== "")} />}
      >
        {(rows) => (
          <Table
            label="Attempts, newest first"
            rows={rows}
            columns={columns}
            keyOf={({ place }) => place}
            linkOf={({ deliveryId, place }) =>
              `#${addressWith(`/deliveries/${deliveryId}`, { ...values, near: place })}`
            }
          />
        )}
      </Pager>
      {isOne ? (
        <DeliveryDrawer
          deliveryId={one.deliveryId}
          onClose={() => navigate(addressWith("/deliveries", values))}
          onChanged={pages.reload}
        />
      ) : null}
    </>
  )
}

const fields: ReadonlyArray<FilterField<(typeof names)[number]>> = [
  { name: "outcome", label: "Outcome", choices: outcomes },
  { name: "endpoint", label: "Endpoint", accept: (typed) => typed },
  { name: "event", label: "Event", hint: "A name or a pattern: work_item.*" },
  {
    name: "eventSequence",
    label: "Event number",
    hint: "Its sequence, as shown on the event",
    accept: (typed) => typed.replaceAll(/\D/gu, "").slice(0, 15)
  },
  { name: "since", label: "Since", kind: "moment" },
  { name: "until", label: "Until", kind: "moment" }
]

const NoDeliveries = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <Empty title={isFiltered ? "No attempts match" : "No deliveries yet"}>
    <p>
      {isFiltered ? (
        "Attempts are kept for seven days. Remove a filter or open Abandoned."
      ) : (
        <>
          Add an <a href={`#${addAddress}`}>endpoint</a>, and <a href="#/events/trigger">trigger</a> an event. From a
          terminal, events reach your own port so:
        </>
      )}
    </p>
    {isFiltered ? null : <pre>./starling listen --forward-to http://localhost:3000</pre>}
  </Empty>
)
