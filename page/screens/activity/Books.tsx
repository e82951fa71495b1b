/** The comparison of chain, claims and receipts: how far it is, and what does not fit. */
import { type Answer, get, post } from "../../api/client.ts"
import { useFilters } from "../../address.ts"
import { useResource } from "../../api/resource.ts"
import { Act } from "../../design/Act.tsx"
import { Badge } from "../../design/Badge.tsx"
import { Facts } from "../../design/Facts.tsx"
import { FilterBar } from "../../design/FilterBar.tsx"
import { Id } from "../../design/Id.tsx"
import { Json } from "../../design/Json.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { Table } from "../../design/Table.tsx"
import { Time } from "../../design/Time.tsx"
import { amountText, roundedText } from "./amounts.ts"

type BooksView = Answer<"GET", "/books">

/** `UncollectedButPaid` as words. */
const spaced = (kind: string) => kind.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, " ").toLowerCase()

export const Books = () => {
  const { values, set } = useFilters(["ended"])
  const ended = values.ended === "true" ? "true" : "false"
  const { value, refused, reload } = useResource(
    `books ${ended}`,
    (signal) => get("/books", { query: { ended }, signal }),
    { everyMs: 5_000 }
  )
  if (value === undefined) {
    return refused === undefined ? <Loading what="the books" /> : <Fault refused={refused} onAgain={reload} />
  }
  return (
    <>
      <Compared books={value.books} />
      <h2 className="findings-head">Findings</h2>
      <FilterBar
        filters={{ values: { ended }, set }}
        fields={[
          {
            name: "ended",
            label: "State",
            choices: [
              { value: "false", label: "open" },
              { value: "true", label: "closed in the last 30 days" }
            ]
          }
        ]}
      />
      <Findings view={value} isEnded={ended === "true"} />
    </>
  )
}

const Compared = ({ books }: Pick<BooksView, "books">) =>
  books.length === 0 ? (
    <Empty title="No network is configured">
      <p>Networks of payments are configured under Payments; a fleet of up has two local ones.</p>
    </Empty>
  ) : (
    <Table
      label="Books"
      rows={books}
      keyOf={({ network, payTo }) => `${network} ${payTo}`}
      columns={[
        { title: "Chain", cell: ({ network }) => network },
        {
          title: "Compared",
          cell: ({ comparedAt, isBehind, trouble }) => (
            <>
              <Badge tone={isBehind ? "bad" : "good"}>{isBehind ? "behind" : "up to date"}</Badge>{" "}
              {comparedAt === null ? "never yet" : <Time at={comparedAt} />}
              {trouble === null ? null : <div>{trouble}</div>}
            </>
          )
        },
        { title: "Findings", cell: ({ standing }) => standing, isNumber: true },
        { title: "Account", cell: ({ payTo }) => <Id text={payTo} what="account" />, isMinor: true },
        {
          title: "Gas balance",
          cell: ({ keys }) =>
            keys.map(({ address, balance, decimals }) => (
              <div key={address}>
                <Id text={address} what="settler key" />{" "}
                {balance === null ? "unknown" : roundedText({ amount: balance, decimals, symbol: null })}
              </div>
            )),
          isMinor: true
        }
      ]}
    />
  )

const Findings = ({ view, isEnded }: { readonly view: BooksView; readonly isEnded: boolean }) =>
  view.findings.length === 0 ? (
    <Empty title={isEnded ? "No findings were closed in the last 30 days" : "Chain, claims and receipts agree"}>
      <p>A finding is a payment on which they disagree.</p>
    </Empty>
  ) : (
    <>
      <Table
        label="Findings"
        rows={view.findings}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `#/activity/books/${id}`}
        columns={[
          { title: "Found", cell: ({ foundAt }) => <Time at={foundAt} /> },
          { title: "Finding", cell: ({ kind }) => spaced(kind) },
          {
            title: "Amount",
            cell: ({ amount, ...token }) => (amount === null ? "–" : amountText({ amount, ...token })),
            isNumber: true
          },
          {
            title: "State",
            cell: ({ end, canBeMended }) =>
              end === null ? <Badge tone="bad">{canBeMended ? "can be mended" : "open"}</Badge> : end.how
          },
          {
            title: "Payer",
            cell: ({ payer }) => (payer === null ? "–" : <Id text={payer} what="payer" />),
            isMinor: true
          }
        ]}
      />
      {view.leftOut === 0 ? null : <p className="soft">{view.leftOut} more</p>}
    </>
  )

export const Finding = ({ id }: { readonly id: string }) => {
  const { value, refused, reload } = useResource(`finding ${id}`, (signal) =>
    get("/books/:finding", { params: { finding: id }, signal })
  )
  if (value === undefined) {
    return refused === undefined ? <Loading what="the finding" /> : <Fault refused={refused} onAgain={reload} />
  }
  const { end, canBeMended, transaction, amount } = value
  const params = { finding: id }
  return (
    <section className="card narrow" aria-label="The finding">
      <h2>{spaced(value.kind)}</h2>
      <p>{value.meaning}</p>
      <p>
        <strong>What to do:</strong> {value.advice}
      </p>
      {end === null ? (
        <div className="row">
          <Act
            label="Mend"
            scope="console:operate"
            question="Mend the finding?"
            kind="main"
            notNow={canBeMended ? undefined : "If you can explain it, accept it."}
            run={(reason) => post("/books/:finding/mend", { reason }, { params }).then(reload)}
          >
            <p>A settler checks the chain and then does what is safe. Nothing is paid twice.</p>
          </Act>
          <Act
            label="Accept"
            scope="console:operate"
            question="Accept the finding?"
            run={(reason) => post("/books/:finding/accept", { reason }, { params }).then(reload)}
          >
            <p>It counts as explained and is not reported again. No money moves and no receipt changes.</p>
          </Act>
        </div>
      ) : (
        <p>
          <Badge tone="good">{end.how}</Badge> <Time at={end.at} /> {end.by === null ? "" : `by ${end.by}`} {end.reason}
        </p>
      )}
      <Facts
        facts={Object.entries({
          Amount: amount === null ? null : amountText({ ...value, amount }),
          "On the chain": value.transferAmount === null ? null : amountText({ ...value, amount: value.transferAmount }),
          Payer: value.payer === null ? null : <code>{value.payer}</code>,
          "Paid to": <code>{value.payTo}</code>,
          Chain: <code>{value.network}</code>,
          Transaction: transaction === null ? null : <code>{transaction}</code>,
          Found: <Time at={value.foundAt} />
        })}
      />
      <Json name="receipts" value={value.receipts} openLevels={0} />
      <Json name="claims" value={value.claims} openLevels={0} />
    </section>
  )
}
