/**
 * Where a call is paid for; the one door between the gateway and payments. A call is priced, then paid before
 * any provider is asked, and ends in exactly one of two ways: `release` (nothing was given out, nothing is
 * charged) or `settle`. A stream is `serve`d before its first byte. Calls to free models never come here.
 */
import { Context, Data, type Effect } from "effect"
import type { AnswerKind } from "#contracts"
import type { PaymentHeaders, PromptSize, Quote, ReplyShape } from "#x402"

/** All that a price and a payment depend on. */
export interface CallFacts {
  readonly path: string
  /** Clients sign the first offer, so each base path has one kind of chain. */
  readonly chain: "evm" | "solana"
  readonly model: string
  readonly prices: {
    readonly inputMicroUsdPerMillionTokens: number
    readonly outputMicroUsdPerMillionTokens: number
    /** For each call or image, instead of tokens. */
    readonly flatMicroUsd: number | undefined
  }
  readonly prompt: PromptSize
  /** The longest answer, over all that were asked for. */
  readonly outputTokens: number
  /** Images, where those are sold. */
  readonly count: number
}

export interface PayableCall extends CallFacts {
  readonly method: "POST"
  /** As it came; the payment is bound to it. */
  readonly body: Uint8Array
  readonly kind: AnswerKind
  /** In which shape a refusal is written. */
  readonly shape: ReplyShape
  readonly payment: PaymentHeaders
  /** Of an image: who sends the payment again is told of this job. */
  readonly jobId?: string
}

/**
 * An answer that is given instead of the model's: the quote, or why the payment was not taken. The commonest answer of
 * all, so no error with a stack of its own.
 */
export class PaymentRefusal extends Data.TaggedClass("PaymentRefusal")<{
  /** 200: the answer was paid for before, and is given once more. */
  readonly status: 200 | 400 | 402 | 409 | 429 | 503
  /** For metrics: a payment code, or `PAYMENT_REQUIRED`. */
  readonly code: string
  /** The image job that the payment was taken for before, and that has not ended as far as the payment says. */
  readonly jobId?: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, written already: quotes are mirrored byte for byte. */
  readonly body: string
}> {}

export interface SettledCall {
  /** Of the answer: the receipt, or that the chain has not spoken yet. */
  readonly headers: Readonly<Record<string, string>>
}

export interface PaidCall {
  /** How long a whole answer may take, where the payment ends sooner than our patience. */
  readonly answerMsMax?: number
  /** Nothing was given out, or what was is not worth money: the payment can be used again. */
  readonly release: Effect.Effect<void>
  /** Before the first byte of a stream: from here on the payment is not given back when the gateway is lost. */
  readonly serve: Effect.Effect<void, PaymentRefusal>
  /** `answer`: a whole one, kept until it is paid for; null after a stream. */
  readonly settle: (answer: Uint8Array | null) => Effect.Effect<SettledCall, PaymentRefusal>
}

export class PaymentGate extends Context.Service<
  PaymentGate,
  {
    readonly quote: (facts: CallFacts) => Effect.Effect<Quote, PaymentRefusal>
    /** Fails with a quote when the call brings no payment. */
    readonly pay: (call: PayableCall) => Effect.Effect<PaidCall, PaymentRefusal>
  }
>()("starling/model-gateway/PaymentGate") {}
