/** Receipts summed up by day, model or payer: a plot, and the table that it is drawn from. */
import { type Answer, get } from "../../api/client.ts"
import { useFilters } from "../../address.ts"
import { useResource } from "../../api/resource.ts"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { count, countOf } from "../../design/words.ts"
import { shortened } from "../../design/shortened.ts"
import { amountText } from "./amounts.ts"
import { Plot } from "./Plot.tsx"
import { queryOf, useReceiptFilters } from "./receipt-filters.ts"

const bases = ["day", "model", "payer"] as const
type By = (typeof bases)[number]

export const Sums = () => {
  const chosen = useFilters(["by"])
  const by: By = bases.find((each) => each === chosen.values.by) ?? "day"
  const { values } = useReceiptFilters()
  const query = { ...queryOf(values), by }
  const { value, refused, reload } = useResource(
    `sums ${JSON.stringify(query)}`,
    (signal) => get("/receipts/sums", { query, signal }),
    { everyMs: 10_000 }
  )
  return (
    <>
      <FilterBar filters={{ ...chosen, values: { by } }} fields={[{ name: "by", label: "Total by", choices: bases }]} />
      {refused === undefined ? null : <Fault refused={refused} onAgain={reload} />}
      {value === undefined ? (
        refused === undefined ? (
          <Loading what="the sums" />
        ) : null
      ) : value.items.length === 0 ? (
        <Empty title="No totals yet">
          <p>Paid calls leave receipts; totals by day, model and payer appear here.</p>
        </Empty>
      ) : (
        <>
          <Plot sums={value.items} by={by} />
          <Table
            label={`Sums by ${by}`}
            rows={value.items}
            keyOf={({ key, network, asset }) => `${key} ${network} ${asset}`}
            columns={columnsBy(by)}
          />
          <p className="soft note">
            Of {countOf(value.read, "receipt")}
            {value.from === null ? null : (
              <>
                , from <Time at={value.from} />
              </>
            )}
            {value.isWhole ? "." : "; the time asked for has more: choose a shorter one under Receipts."}
            {value.leftOut === 0 ? null : ` ${value.leftOut} smaller sums are left out.`}
          </p>
        </>
      )}
    </>
  )
}

type Sum = Answer<"GET", "/receipts/sums">["items"][number]

const columnsBy = (by: By): ReadonlyArray<Column<Sum>> => [
  {
    title: by === "day" ? "Day (UTC)" : by === "model" ? "Model" : "Payer",
    cell: ({ key }) => (key === null ? "none" : <span title={key}>{by === "payer" ? shortened(key) : key}</span>)
  },
  { title: "Settled", cell: ({ settled, ...token }) => amountText({ ...token, amount: settled }), isNumber: true },
  { title: "Calls", cell: ({ settledCount }) => count(settledCount), isNumber: true },
  {
    title: "Uncollected",
    cell: ({ uncollected, uncollectedCount, ...token }) =>
      uncollectedCount === 0
        ? "–"
        : `${amountText({ ...token, amount: uncollected })}, ${count(uncollectedCount)} calls`,
    isNumber: true,
    isMinor: true
  },
  {
    title: "Refunded",
    cell: ({ refunded, refundedCount, ...token }) =>
      refundedCount === 0 ? "–" : amountText({ ...token, amount: refunded }),
    isNumber: true,
    isMinor: true
  },
  { title: "Chain", cell: ({ network }) => network, isMinor: true }
]
