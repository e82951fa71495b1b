import { useFilters } from "../../address.ts"
import { type Answer, get } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"

type Act = Answer<"GET", "/audit">["items"][number]

/** Every act that the contract knows, and no other: one that is missing or too many does not compile. */
const isAct: Readonly<Record<Act["action"], true>> = {
  "event-publish": true,
  "event-type-declare": true,
  "event-type-change": true,
  "delivery-resend": true,
  "abandoned-resend": true,
  "abandoned-discard": true,
  "rejected-resend": true,
  "rejected-discard": true,
  "endpoint-create": true,
  "endpoint-change": true,
  "endpoint-rotate": true,
  "endpoint-reseal": true,
  "endpoint-remove": true,
  "endpoint-enable": true,
  "endpoint-disable": true,
  "endpoint-pause": true,
  "endpoint-resume": true,
  "endpoint-test": true,
  "token-make": true,
  "token-revoke": true,
  "sign-in-code": true,
  "sign-in": true,
  "sign-out": true,
  "trial-pay": true,
  "book-mend": true,
  "book-accept": true,
  "payment-refund": true
}
const actions = Object.keys(isAct) as ReadonlyArray<Act["action"]>

export const Audit = () => {
  const filters = useFilters(["action"])
  const { values } = filters
  const action = actions.find((known) => known === values.action)
  const pages = usePages<Act>(
    `audit ${values.action}`,
    (cursor, signal) =>
      get("/audit", {
        query: { ...(action === undefined ? {} : { action }), ...(cursor === undefined ? {} : { cursor }) },
        signal
      }),
    5_000
  )
  return (
    <>
      <FilterBar filters={filters} fields={[{ name: "action", label: "Action", choices: actions }]} />
      <Pager
        pages={pages}
        what="the audit log"
        empty={
          <Empty title="No actions yet">
            <p>Every action through this page or the command line appears here, with who did it and why.</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            label="Audit log, newest first"
            rows={rows}
            columns={columns}
            keyOf={({ sequence }) => String(sequence)}
          />
        )}
      </Pager>
    </>
  )
}

const columns: ReadonlyArray<Column<Act>> = [
  { title: "When", cell: ({ at }) => <Time at={at} /> },
  { title: "Action", cell: ({ action }) => action },
  { title: "Target", cell: ({ target }) => <code className="value">{target}</code>, isMinor: true },
  { title: "Reason", cell: ({ reason }) => reason },
  {
    title: "Who",
    cell: ({ by: { tokenId, role, person } }) => (
      <>
        {person === undefined ? <code>{tokenId}</code> : person} {role}
      </>
    ),
    isMinor: true
  }
]
