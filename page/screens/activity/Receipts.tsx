/** The ends of payments, newest first, with their filters and their table as a file. */
import { type Answer, addressOf, get } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { Badge } from "../../design/Badge.tsx"
import { FilterBar, type FilterField } from "../../design/FilterBar.tsx"
import { Id } from "../../design/Id.tsx"
import { Code } from "../../design/Code.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty } from "../../design/Said.tsx"
import { Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { amountText } from "./amounts.ts"
import { type FilterName, queryOf, useReceiptFilters } from "./receipt-filters.ts"

export type ReceiptRow = Answer<"GET", "/receipts">["items"][number]

export const Receipts = () => {
  const filters = useReceiptFilters()
  const { values } = filters
  const query = queryOf(values)
  const pages = usePages(
    `receipts ${JSON.stringify(query)}`,
    (cursor, signal) =>
      get("/receipts", { query: { ...query, limit: "50", ...(cursor === undefined ? {} : { cursor }) }, signal }),
    3_000
  )
  return (
    <>
      <FilterBar filters={filters} fields={fields}>
        <a className="button" href={addressOf("/receipts.csv", { query })} download="receipts.csv">
          Download as CSV
        </a>
      </FilterBar>
      <Pager pages={pages} what="the receipts" empty={<NoReceipts isFiltered={Object.keys(query).length > 0} />}>
        {(rows) => <ReceiptTable rows={rows} />}
      </Pager>
    </>
  )
}

export const ReceiptTable = ({ rows }: { readonly rows: ReadonlyArray<ReceiptRow> }) => (
  <Table
    label="Receipts"
    rows={rows}
    keyOf={({ sequence }) => String(sequence)}
    linkOf={({ sequence }) => `#/activity/receipts/${sequence}`}
    columns={[
      { title: "Ended", cell: ({ endedAt }) => <Time at={endedAt} /> },
      { title: "Amount", cell: amountText, isNumber: true },
      { title: "Outcome", cell: ({ outcome }) => <Outcome outcome={outcome} /> },
      { title: "Model", cell: ({ model }) => model ?? "–", isMinor: true },
      { title: "Payer", cell: ({ payer }) => <Id text={payer} what="payer" />, isMinor: true },
      { title: "Chain", cell: ({ network }) => network, isMinor: true },
      {
        title: "Transaction",
        cell: ({ transaction, reason }) =>
          transaction === null ? (
            reason === null ? (
              "–"
            ) : (
              <Code text={reason} />
            )
          ) : (
            <Id text={transaction} what="transaction" />
          ),
        isMinor: true
      }
    ]}
  />
)

export const Outcome = ({ outcome }: Pick<ReceiptRow, "outcome">) => (
  <Badge tone={outcome === "uncollected" ? "bad" : "good"}>{outcome}</Badge>
)

const NoReceipts = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No receipts match">
      <p>Remove a filter or choose another time range.</p>
    </Empty>
  ) : (
    <Empty title="No payments yet">
      <p>Every paid call leaves a receipt here: who paid how much, for what, in which transaction.</p>
      <p>
        <a href="#/models">Pay for a call</a>, or in a terminal:
      </p>
      <pre tabIndex={0}>./starling pay "Why is the sky blue?" --model demo/echo</pre>
    </Empty>
  )

const fields: ReadonlyArray<FilterField<FilterName>> = [
  { name: "outcome", label: "Outcome", choices: ["settled", "uncollected", "refunded"] },
  { name: "since", label: "From", kind: "day" },
  { name: "until", label: "To", kind: "day" },
  { name: "model", label: "Model", hint: "As demo/echo" },
  { name: "payer", label: "Payer", hint: "Its address" },
  { name: "transaction", label: "Transaction", hint: "Its hash" },
  { name: "network", label: "Chain", hint: "As eip155:8453" }
]
