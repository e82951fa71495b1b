/** One payment from call to receipt. */
import { get } from "../../api/client.ts"
import { useResource } from "../../api/resource.ts"
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
            "is forgotten: it is kept for a day after its payment's own end"
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
          "Why not collected": value.reason,
          Number: value.sequence
        })}
      />
    </section>
  )
}
