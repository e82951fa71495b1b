/** The ends of payments, newest first, with their filters and their table as a file. */
import { type Answer, addressOf, get } from "../../api/client.ts"
import { usePages } from "../../api/pages.ts"
import { Badge } from "../../design/Badge.tsx"
import { Button } from "../../design/Button.tsx"
import { Field } from "../../design/Field.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty } from "../../design/Said.tsx"
import { Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { amountText, shortened } from "./amounts.ts"
import { type FilterName, queryOf, useReceiptFilters } from "./receipt-filters.ts"

export type ReceiptRow = Answer<"GET", "/receipts">["items"][number]

export const Receipts = () => {
  const { values } = useReceiptFilters()
  const query = queryOf(values)
  const pages = usePages(
    `receipts ${JSON.stringify(query)}`,
    (cursor, signal) =>
      get("/receipts", { query: { ...query, limit: "50", ...(cursor === undefined ? {} : { cursor }) }, signal }),
    3_000
  )
  return (
    <>
      <Filters />
      <p className="row csv">
        <a className="button" href={addressOf("/receipts.csv", { query })} download="receipts.csv">
          Download as CSV
        </a>
      </p>
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
      { title: "Model", cell: ({ model }) => model ?? "–" },
      { title: "Payer", cell: ({ payer }) => <code title={payer}>{shortened(payer)}</code>, isMinor: true },
      { title: "Chain", cell: ({ network }) => network, isMinor: true },
      {
        title: "Transaction",
        cell: ({ transaction, reason }) =>
          transaction === null ? reason : <code title={transaction}>{shortened(transaction)}</code>,
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
    <Empty title="No receipt is like that">
      <p>Remove a filter or choose another time range.</p>
    </Empty>
  ) : (
    <Empty title="Nothing was paid yet">
      <p>Every paid call leaves a receipt here: who paid how much, for what, in which transaction.</p>
      <p>
        <a href="#/models">Pay for a call</a>, or in a terminal:
      </p>
      <pre tabIndex={0}>./starling pay "Why is the sky blue?" --model demo/echo</pre>
    </Empty>
  )

export const Filters = () => {
  const { values, set } = useReceiptFilters()
  const bound = (name: FilterName) => ({
    value: values[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) => set({ [name]: target.value.trim() })
  })
  const isAny = Object.values(values).some((value) => value !== "")
  return (
    <div className="filters">
      <Field label="From">{(given) => <input {...given} type="date" {...bound("since")} />}</Field>
      <Field label="To">{(given) => <input {...given} type="date" {...bound("until")} />}</Field>
      <Field label="Outcome">
        {(given) => (
          <select {...given} {...bound("outcome")}>
            <option value="">any</option>
            <option>settled</option>
            <option>uncollected</option>
            <option>refunded</option>
          </select>
        )}
      </Field>
      <Field label="Model">{(given) => <input {...given} placeholder="demo/echo" {...bound("model")} />}</Field>
      <Field label="Payer">{(given) => <input {...given} placeholder="0x…" {...bound("payer")} />}</Field>
      <Field label="Transaction">{(given) => <input {...given} placeholder="0x…" {...bound("transaction")} />}</Field>
      {isAny ? (
        <Button
          kind="bare"
          onClick={() => set({ since: "", until: "", payer: "", model: "", outcome: "", transaction: "", network: "" })}
        >
          Take filters away
        </Button>
      ) : null}
    </div>
  )
}
