/** Deliveries that were given up: each can be sent again, or taken off the list. */
import { useState } from "react"
import { useRoute } from "wouter"
import { addressWith, navigate, useFilters } from "../../address.ts"
import { type Answer, get, post } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { useResource } from "../../api/resource.ts"
import { Act } from "../../design/Act.tsx"
import { CopyButton } from "../../design/Button.tsx"
import { Code } from "../../design/Code.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Facts } from "../../design/Facts.tsx"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Id } from "../../design/Id.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { countOf } from "../../design/words.ts"

type Row = Answer<"GET", "/abandoned">["items"][number]

const columns: ReadonlyArray<Column<Row>> = [
  { title: "When", cell: ({ abandonedAt }) => <Time at={abandonedAt} /> },
  { title: "Endpoint", cell: ({ endpoint }) => endpoint },
  { title: "Event", cell: ({ event }) => <code>{event}</code>, isMinor: true },
  { title: "Last error", cell: (row) => <WhyAbandoned row={row} /> },
  { title: "Attempts", cell: ({ attempts }) => attempts ?? "–", isNumber: true, isMinor: true }
]

const WhyAbandoned = ({ row: { reason, lastStatus, lastError } }: { readonly row: Row }) => {
  const text = reason ?? lastError ?? (lastStatus === null ? "unknown" : `status ${lastStatus}`)
  return <Code text={text} {...(lastStatus === null ? {} : { code: String(lastStatus) })} />
}

export const Abandoned = () => {
  const filters = useFilters(["endpoint"])
  const { values } = filters
  const [isOne, one] = useRoute("/deliveries/abandoned/:sequence")
  const ofEndpoint = values.endpoint === "" ? {} : { endpoint: values.endpoint }
  const pages = usePages<Row>(
    `abandoned ${values.endpoint}`,
    (cursor, signal) =>
      get("/abandoned", { query: { ...ofEndpoint, ...(cursor === undefined ? {} : { cursor }) }, signal }),
    5_000
  )
  const list = addressWith("/deliveries/abandoned", values)
  return (
    <>
      <FilterBar filters={filters} fields={[{ name: "endpoint", label: "Endpoint", accept: (typed) => typed }]}>
        {pages.rows?.length === 0 ? null : <ResendAll of={ofEndpoint} onDone={pages.reload} />}
      </FilterBar>
      <Pager
        pages={pages}
        what="abandoned deliveries"
        empty={
          <Empty title="No abandoned deliveries">
            <p>Deliveries whose last attempt failed are listed here for thirty days.</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            label="Abandoned deliveries, newest first"
            rows={rows}
            columns={columns}
            keyOf={({ sequence }) => String(sequence)}
            linkOf={({ sequence }) => `#${addressWith(`/deliveries/abandoned/${sequence}`, values)}`}
          />
        )}
      </Pager>
      {isOne ? (
        <AbandonedDrawer sequence={one.sequence} onClose={() => navigate(list)} onChanged={pages.reload} />
      ) : null}
    </>
  )
}

interface ResendAllProps {
  readonly of: { readonly endpoint?: string }
  readonly onDone: () => void
}

const ResendAll = ({ of, onDone }: ResendAllProps) => {
  const [said, setSaid] = useState("")
  const resend = async (reason: string) => {
    const { count } = await post("/abandoned/resend", { ...of, reason })
    setSaid(`${countOf(count, "delivery", "deliveries")} sent again.`)
    onDone()
  }
  const tally = async (reason: string) => {
    const { count } = await post("/abandoned/resend", { ...of, reason, dryRun: true })
    setSaid(`${countOf(count, "delivery", "deliveries")} would be sent.`)
  }
  const whose = of.endpoint ?? "every endpoint"
  return (
    <div className="row">
      <Act label="Count all" scope="console:write" question="Count what would be sent?" run={tally}>
        <p>Nothing is sent: it says how many there are for {whose}.</p>
      </Act>
      <Act label="Send all again" scope="console:write" question="Send all of them again?" run={resend}>
        <p>Each becomes a new delivery to its endpoint and leaves this list: those of {whose}.</p>
      </Act>
      <span role="status">{said}</span>
    </div>
  )
}

interface AbandonedDrawerProps {
  readonly sequence: string
  readonly onClose: () => void
  readonly onChanged: () => void
}

const AbandonedDrawer = ({ sequence, onClose, onChanged }: AbandonedDrawerProps) => {
  const params = { sequence }
  const { value, refused, reload } = useResource(`abandoned ${sequence}`, (signal) =>
    get("/abandoned/:sequence", { params, signal })
  )
  const after = (done: Promise<unknown>) =>
    done.then(() => {
      onChanged()
      onClose()
    })
  return (
    <Drawer title="Abandoned delivery" onClose={onClose}>
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {value === undefined && refused === undefined ? <Loading what="the delivery" /> : null}
      {value === undefined ? null : (
        <>
          <div className="actions">
            <Act
              label="Send again"
              kind="main"
              scope="console:write"
              question="Send it again?"
              run={(reason) => after(post("/abandoned/:sequence/resend", { reason }, { params }))}
            >
              <p>It becomes a new delivery to {value.endpoint}, and leaves this list.</p>
            </Act>
            <Act
              label="Discard"
              kind="danger"
              scope="console:operate"
              question="Discard it for good?"
              run={(reason) => after(post("/abandoned/:sequence/discard", { reason }, { params }))}
            >
              <p>It can no longer be redelivered from here.</p>
            </Act>
          </div>
          <Facts
            facts={[
              ["Delivery", <Id key="id" text={value.deliveryId} what="delivery" />],
              ["Endpoint", value.endpoint],
              [
                "Event",
                <a key="event" href={`#/events/${value.eventSequence}`}>{`${value.event}, ${value.eventSequence}`}</a>
              ],
              ["Abandoned", <Time key="at" at={value.abandonedAt} />],
              ["Reason", value.reason ?? value.lastError ?? "unknown"],
              ["Attempts", value.attempts],
              ["Redrive of", value.redriveOf]
            ]}
          />
          <h3>Body as sent {value.body === null ? null : <CopyButton text={value.body} what="the body" />}</h3>
          <pre className="code-wrap" tabIndex={0}>
            {value.body ?? "Shown to tokens with the scope payloads:read."}
          </pre>
        </>
      )}
    </Drawer>
  )
}
