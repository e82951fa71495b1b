/** What was sent to whom and what came back; what was given up; and messages that broke their schema. */
import { useRoute } from "wouter"
import { navigate, addressWith, useFilters } from "../../address.ts"
import { get } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { Field } from "../../design/Field.tsx"
import { Head, Tabs } from "../../design/Head.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { When } from "../../design/When.tsx"
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
    cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? "–" : <Time at={nextAttemptAt} />),
    isMinor: true
  }
]

const Attempts = () => {
  const { values, set } = useFilters(names)
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
      <AttemptFilters values={values} set={set} />
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

type AttemptFiltersProps = Pick<ReturnType<typeof useFilters<(typeof names)[number]>>, "values" | "set">

const AttemptFilters = ({ values, set }: AttemptFiltersProps) => (
  <div className="filters">
    <Field label="Endpoint" hint="Its name">
      {(given) => (
        <input
          {...given}
          type="search"
          autoComplete="off"
          value={values.endpoint}
          onChange={({ target }) => set({ endpoint: target.value })}
        />
      )}
    </Field>
    <Field label="Outcome" hint="How an attempt ended">
      {(given) => (
        <select {...given} value={values.outcome} onChange={({ target }) => set({ outcome: target.value })}>
          <option value="">any</option>
          {outcomes.map((outcome) => (
            <option key={outcome}>{outcome}</option>
          ))}
        </select>
      )}
    </Field>
    <Field label="Event" hint="A name or a pattern: work_item.*">
      {(given) => (
        <input
          {...given}
          type="search"
          autoComplete="off"
          value={values.event}
          onChange={({ target }) => set({ event: target.value.trim() })}
        />
      )}
    </Field>
    <Field label="Event's number" hint="Its sequence, as in its drawer">
      {(given) => (
        <input
          {...given}
          type="search"
          inputMode="numeric"
          autoComplete="off"
          maxLength={15}
          value={values.eventSequence}
          onChange={({ target }) => set({ eventSequence: target.value.replaceAll(/\D/gu, "") })}
        />
      )}
    </Field>
    {/* Two times are sixteen stops of the keyboard, and half of a small screen. */}
    <details className="when-filter" open={values.since !== "" || values.until !== "" ? true : undefined}>
      <summary>Time</summary>
      <div className="filters">
        <When label="Since" value={values.since} onChange={(since) => set({ since })} />
        <When label="Until" value={values.until} onChange={(until) => set({ until })} />
      </div>
    </details>
  </div>
)

const NoDeliveries = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <Empty title={isFiltered ? "No attempt matches" : "Nothing was sent yet"}>
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
