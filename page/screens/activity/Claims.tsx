/** Payments in use for a call: what is unclaimed, and what holds of its payer. */
import { type Answer, get } from "../../api/client.ts"
import { useFilters } from "../../address.ts"
import { usePages } from "../../api/pages.ts"
import { useResource } from "../../api/resource.ts"
import { Badge } from "../../design/Badge.tsx"
import { Facts } from "../../design/Facts.tsx"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Id } from "../../design/Id.tsx"
import { Pager } from "../../design/Pager.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import type { Tone } from "../../design/tone.ts"
import { amountText } from "./amounts.ts"
import { ReceiptTable } from "./Receipts.tsx"

type ClaimRow = Answer<"GET", "/claims">["items"][number]
type ClaimState = ClaimRow["state"]

const states: Readonly<Record<ClaimState, Tone>> = {
  CLAIMED: "wait",
  SERVING: "wait",
  SETTLING: "wait",
  SETTLED: "good",
  UNCOLLECTED: "bad",
  RELEASED: "quiet"
}

const State = ({ state }: { readonly state: ClaimState }) => <Badge tone={states[state]}>{state.toLowerCase()}</Badge>

export const Claims = () => {
  const filters = useFilters(["state", "payer"])
  const { values } = filters
  const query = {
    ...(values.state in states ? { state: values.state as ClaimState } : {}),
    ...(values.payer === "" ? {} : { payer: values.payer })
  }
  const pages = usePages(
    `claims ${JSON.stringify(query)}`,
    (cursor, signal) =>
      get("/claims", { query: { ...query, limit: "50", ...(cursor === undefined ? {} : { cursor }) }, signal }),
    3_000
  )
  return (
    <>
      <FilterBar
        filters={filters}
        fields={[
          {
            name: "state",
            label: "State",
            hint: "Unfinished claims without it",
            choices: Object.keys(states).map((value) => ({ value, label: value.toLowerCase() }))
          },
          { name: "payer", label: "Payer", hint: "Its address" }
        ]}
      />
      <Pager
        pages={pages}
        what="the claims"
        empty={
          <Empty title="No claims are open">
            <p>A claim reserves one payment for one call from verification to settlement, usually seconds.</p>
          </Empty>
        }
      >
        {(rows) => (
          <Table
            label="Claims"
            rows={rows}
            keyOf={({ key }) => key}
            linkOf={({ key }) => `#/activity/claims/${key}`}
            columns={[
              { title: "Claimed", cell: ({ claimedAt }) => <Time at={claimedAt} /> },
              { title: "State", cell: ({ state }) => <State state={state} /> },
              { title: "Amount", cell: amountText, isNumber: true },
              { title: "Model", cell: ({ model }) => model ?? "–", isMinor: true },
              { title: "Payer", cell: ({ payer }) => <Id text={payer} what="payer" />, isMinor: true },
              { title: "Calls", cell: ({ asked }) => asked, isNumber: true, isMinor: true },
              { title: "Valid until", cell: ({ validBefore }) => <Time at={validBefore} />, isMinor: true }
            ]}
          />
        )}
      </Pager>
    </>
  )
}

export const Claim = ({ id }: { readonly id: string }) => {
  const { value, refused, reload } = useResource(
    `claim ${id}`,
    (signal) => get("/claims/:key", { params: { key: id }, signal }),
    { everyMs: 3_000 }
  )
  if (value === undefined) {
    return refused === undefined ? <Loading what="the claim" /> : <Fault refused={refused} onAgain={reload} />
  }
  const { payerDenied } = value
  return (
    <>
      <section className="card narrow" aria-label="The claim">
        <h2>
          {amountText(value)} <State state={value.state} />
        </h2>
        <Facts
          facts={Object.entries({
            Model: value.model,
            Answer: value.kind === "stream" ? "a stream" : "whole",
            Gateway: <code>{value.holder}</code>,
            Payer: <code>{value.payer}</code>,
            "Paid to": <code>{value.payTo}</code>,
            Chain: <code>{value.network}</code>,
            Claimed: <Time at={value.claimedAt} />,
            "Settlement asked": value.requestedAt === null ? null : <Time at={value.requestedAt} />,
            "Valid until": <Time at={value.validBefore} />,
            Transactions:
              value.transactions.length === 0
                ? null
                : value.transactions.map((transaction) => (
                    <div key={transaction}>
                      <code>{transaction}</code>
                    </div>
                  )),
            "Why unpaid": value.reason,
            "Claims of the payer": `${value.payerPlaces} hold some of its money`,
            "Payer denied": payerDenied === null ? null : `${payerDenied.reason}, since ${payerDenied.since}`,
            Key: <code>{value.key}</code>
          })}
        />
      </section>
      {value.receipts.length === 0 ? null : (
        <>
          <h2>Its receipts</h2>
          <ReceiptTable rows={value.receipts} />
        </>
      )}
    </>
  )
}
