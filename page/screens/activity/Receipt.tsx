/** One payment from call to receipt. */
import { useState } from "react"
import { type Answer, get, post } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
import { Act } from "../../design/Act.tsx"
import { Badge } from "../../design/Badge.tsx"
import { CopyButton } from "../../design/Button.tsx"
import { Facts } from "../../design/Facts.tsx"
import { Fault, Loading } from "../../design/Said.tsx"
import { Time } from "../../design/Time.tsx"
import { amountText } from "./amounts.ts"
import { Outcome } from "./Receipts.tsx"

export const Receipt = ({ sequence }: { readonly sequence: string }) => {
  const { value, refused, reload } = useResource(`receipt ${sequence}`, (signal) =>
    get("/receipts/:sequence", { params: { sequence }, signal })
  )
  if (value === undefined) {
    return refused === undefined ? <Loading what="the receipt" /> : <Fault refused={refused} onAgain={reload} />
  }
  const { claim, transaction } = value
  return (
    <section className="card narrow" aria-label={`Receipt ${sequence}`}>
      <h2>
        {amountText(value)} <Outcome outcome={value.outcome} />
      </h2>
      <ol className="payment-course">
        <li>
          <strong>Call</strong> of {value.model ?? "another server"}
          {claim === null ? null : `, answered ${claim.kind === "stream" ? "as a stream" : "whole"} by ${claim.holder}`}
        </li>
        <li>
          <strong>Claim</strong>{" "}
          {claim === null && value.scheme === "batch-settlement" ? (
            "of a payment channel: made later, together with other charges"
          ) : claim === null ? (
            "is deleted: claims are kept for a day after their payment ends"
          ) : (
            <>
              <a href={`#/activity/claims/${claim.key}`}>{claim.state}</a>, claimed <Time at={claim.claimedAt} />
            </>
          )}
        </li>
        <li>
          <strong>Transaction</strong>{" "}
          {transaction === null ? (
            (value.reason ?? "none was sent")
          ) : (
            <>
              <code>{transaction}</code> <CopyButton text={transaction} what="the transaction" />
            </>
          )}
        </li>
        <li>
          <strong>Receipt</strong> <Time at={value.endedAt} />
        </li>
      </ol>
      <Facts
        facts={Object.entries({
          Payer: (
            <a href={`#/activity?payer=${value.payer}`}>
              <code>{value.payer}</code>
            </a>
          ),
          "Paid to": <code>{value.payTo}</code>,
          Chain: <code>{value.network}</code>,
          Token: <code>{value.asset}</code>,
          "Asked for": <Time at={value.requestedAt} />,
          [value.outcome === "refunded" ? "Reason for the refund" : "Why uncollected"]: value.reason,
          Number: value.sequence
        })}
      />
      {value.outcome === "settled" ? <Refunds receipt={value} onDone={reload} /> : null}
    </section>
  )
}

type ReceiptAnswer = Answer<"GET", "/receipts/:sequence">

const tones = { ordered: "wait", made: "good", failed: "bad" } as const

/** What was given back of a payment, and giving back the rest. */
const Refunds = ({ receipt, onDone }: { readonly receipt: ReceiptAnswer; readonly onDone: () => void }) => {
  // Asked again after a broken connection, it is the same refund.
  const [key] = useState(() => `console-${crypto.randomUUID()}`)
  const { refunds, sequence, payer } = receipt
  const params = { sequence: String(sequence) }
  return (
    <>
      <p>
        <strong>{refunds.length === 0 ? "No refunds" : "Refunds"}</strong>
      </p>
      <ul hidden={refunds.length === 0}>
        {refunds.map((refund) => (
          <li key={refund.key}>
            {amountText(refund)} <Badge tone={tones[refund.state]}>{refund.state}</Badge> <Time at={refund.orderedAt} />
            , {refund.reason}
            {refund.fault === null ? null : <div>{refund.fault}</div>}
          </li>
        ))}
      </ul>
      <div className="actions">
        <Act
          label="Refund"
          scope="console:operate"
          question="Refund everything that is left?"
          kind="danger"
          run={(reason) => post("/receipts/:sequence/refunds", { key, reason }, { params }).then(onDone)}
        >
          <p>
            A settler transfers it on the chain to <code>{payer}</code>, once. A part of it:{" "}
            <code>./starling receipts refund {sequence} --amount …</code>
          </p>
        </Act>
      </div>
    </>
  )
}
