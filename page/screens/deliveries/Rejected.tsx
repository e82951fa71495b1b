/** Messages that broke their schema: what came, and what is wrong with it. */
import { useRoute } from "wouter"
import { addressWith, navigate, useFilters } from "../../address.ts"
import { type Answer, get, post } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { useResource } from "../../api/resource.ts"
import { Act } from "../../design/Act.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Facts } from "../../design/Facts.tsx"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { countOf } from "../../design/words.ts"

type Row = Answer<"GET", "/rejected">["items"][number]

const columns: ReadonlyArray<Column<Row>> = [
  { title: "Received", cell: ({ receivedAt }) => <Time at={receivedAt} /> },
  { title: "Rejected by", cell: ({ origin }) => origin },
  {
    title: "First error",
    cell: ({ firstFault, faultCount }) => (
      <>
        <code>{firstFault?.path ?? ""}</code> {firstFault?.message ?? "unknown"}
        {faultCount > 1 ? <span className="soft"> and {countOf(faultCount - 1, "other")}</span> : null}
      </>
    )
  },
  { title: "Subject", cell: ({ subject }) => <code>{subject}</code>, isMinor: true }
]

export const Rejected = () => {
  const filters = useFilters(["origin"])
  const { values } = filters
  const [isOne, one] = useRoute("/deliveries/rejected/:sequence")
  const pages = usePages<Row>(
    `rejected ${values.origin}`,
    (cursor, signal) => {
      const ofOrigin = values.origin === "" ? {} : { origin: values.origin }
      return get("/rejected", { query: { ...ofOrigin, ...(cursor === undefined ? {} : { cursor }) }, signal })
    },
    5_000
  )
  return (
    <>
      <FilterBar
        filters={filters}
        fields={[{ name: "origin", label: "Rejected by", hint: "A part of the fleet: events" }]}
      />
      <Pager
        pages={pages}
        what="rejected messages"
        empty={
          <Empty title="No rejected messages">
            <p>Messages that break it are listed here with every fault for seven days.</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            label="Rejected messages, newest first"
            rows={rows}
            columns={columns}
            keyOf={({ sequence }) => String(sequence)}
            linkOf={({ sequence }) => `#${addressWith(`/deliveries/rejected/${sequence}`, values)}`}
          />
        )}
      </Pager>
      {isOne ? (
        <RejectedDrawer
          sequence={one.sequence}
          onClose={() => navigate(addressWith("/deliveries/rejected", values))}
          onChanged={pages.reload}
        />
      ) : null}
    </>
  )
}

interface RejectedDrawerProps {
  readonly sequence: string
  readonly onClose: () => void
  readonly onChanged: () => void
}

const RejectedDrawer = ({ sequence, onClose, onChanged }: RejectedDrawerProps) => {
  const params = { sequence }
  const { value, refused, reload } = useResource(`rejected ${sequence}`, (signal) =>
    get("/rejected/:sequence", { params, signal })
  )
  const after = (done: Promise<unknown>) =>
    done.then(() => {
      onChanged()
      onClose()
    })
  return (
    <Drawer title="Rejected message" onClose={onClose}>
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {value === undefined && refused === undefined ? <Loading what="the message" /> : null}
      {value === undefined ? null : (
        <>
          <div className="actions">
            <Act
              label="Send again"
              kind="main"
              scope="console:write"
              question="Publish it as it is?"
              notNow={notSentBecause(value)}
              run={(reason) => after(post("/rejected/:sequence/resend", { reason }, { params }))}
            >
              <p>If this release still rejects it, it stays here.</p>
            </Act>
            <Act
              label="Discard"
              kind="danger"
              scope="console:operate"
              question="Discard it for good?"
              run={(reason) => after(post("/rejected/:sequence/discard", { reason }, { params }))}
            >
              <p>The message is deleted; its sender does not send it again.</p>
            </Act>
          </div>
          <Facts
            facts={[
              ["Subject", <code key="subject">{value.subject}</code>],
              ["Rejected by", value.origin],
              ["Received", <Time key="at" at={value.receivedAt} />],
              ["Source sequence", value.sourceSequence]
            ]}
          />
          <h3>{countOf(value.faults.length, "fault")}</h3>
          <ul>
            {value.faults.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{path === "" ? "(root)" : path}</code> {message}
              </li>
            ))}
          </ul>
          <h3>Payload</h3>
          <pre className="code-wrap" tabIndex={0}>
            {value.payload ?? "Shown to tokens with the scope payloads:read."}
          </pre>
        </>
      )}
    </Drawer>
  )
}

const notSentBecause = ({ subject, isTruncated }: Pick<Row, "subject" | "isTruncated">) => {
  if (!subject.startsWith("events."))
    return "Only events can be redelivered from here; other messages by their senders."
  return isTruncated ? "Only the beginning is stored." : undefined
}
