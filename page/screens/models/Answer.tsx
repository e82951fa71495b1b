/** A call of a model as it goes: quote, answer, tokens, receipt. */
import { Badge, type Tone } from "../../design/Badge.tsx"
import { Facts } from "../../design/Facts.tsx"
import { Fault } from "../../design/Said.tsx"
import { duration } from "../../design/words.ts"
import { shortened } from "../../design/shortened.ts"
import type { Calling, CallPhase } from "./calling.ts"
import { dollars, type Pricing, reasonsFor, usedUsd, waysToPay } from "./chat.ts"

const states: Readonly<Record<CallPhase, readonly [Tone, string]>> = {
  idle: ["quiet", "nothing asked"],
  quoting: ["wait", "asking for the price"],
  quoted: ["wait", "priced"],
  answering: ["wait", "answering"],
  answered: ["good", "answered"],
  stopped: ["quiet", "stopped"],
  refused: ["bad", "refused"]
}

interface AnswerProps {
  readonly calling: Calling
  readonly pricing: Pricing | undefined
  readonly isShort?: boolean
}

export const Answer = ({ calling, pricing, isShort = false }: AnswerProps) => {
  const { phase, call, quote, text, usage, receipt, refused, firstWordMs, isPaid } = calling
  if (call === undefined) return null
  const [tone, words] = states[phase]
  const offer = quote?.accepts[0]
  return (
    <section className="answer" aria-label="The call" data-phase={phase}>
      <p>
        <Badge tone={tone}>{words}</Badge>
      </p>
      {text === "" ? null : (
        <p className="answer-text" aria-live="polite">
          {text}
        </p>
      )}
      {refused === undefined ? null : <Fault refused={refused} />}
      <Facts
        facts={Object.entries({
          Price: quote === undefined ? null : <strong>{dollars(quote.price.amount)}</strong>,
          "Ways to pay": quote === undefined || isShort ? null : waysToPay(quote),
          "Paid to": offer === undefined || isShort ? null : <code>{offer.payTo}</code>,
          Chain: offer === undefined ? null : <code>{offer.network}</code>,
          "First word": firstWordMs === undefined ? null : duration(firstWordMs),
          Tokens: usage === undefined ? null : `${usage.inputTokens} in, ${usage.outputTokens} out`,
          "Used of the price":
            usage === undefined || pricing === undefined || quote === undefined
              ? null
              : `${dollars(usedUsd(pricing, usage))} for these tokens`,
          Receipt:
            receipt === undefined ? (
              isPaid && phase === "answered" ? (
                "Not settled yet; the receipt will appear under Activity."
              ) : null
            ) : receipt.success ? (
              <a href={`#/activity?transaction=${receipt.transaction}`}>
                <code title={receipt.transaction}>
                  {isShort ? shortened(receipt.transaction) : receipt.transaction}
                </code>
              </a>
            ) : (
              `not paid: ${receipt.errorReason ?? "the chain refused"}`
            )
        })}
      />
      {isShort || quote === undefined || pricing === undefined ? null : (
        <details open={phase === "quoted"}>
          <summary>What it costs, and why</summary>
          {reasonsFor(quote.price.amount, pricing, call.maxTokens).map((reason) => (
            <p key={reason}>{reason}</p>
          ))}
        </details>
      )}
    </section>
  )
}
