import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { Mailbox, Requests } from "#bus"
import { type Claim, type ClaimMove, Claims, offerOf, Settlements } from "#payments"
import { noUsage, type Used } from "../../../../services/model-gateway/payments/charge.ts"
import { CallNames } from "../../../../services/model-gateway/payments/CallNames.ts"
import { PaidAnswers } from "../../../../services/model-gateway/payments/PaidAnswers.ts"
import { PaidJobs } from "../../../../services/model-gateway/payments/PaidJobs.ts"
import { ClaimPayments, claimedPayment } from "../../../../services/model-gateway/payments/claims/ClaimPayments.ts"
import { PaidCalls } from "../../../../services/model-gateway/payments/PaidCalls.ts"
import type { PayableCall } from "../../../../services/model-gateway/payments/quote.ts"
import { checkedPayment, testNetwork, testPayload } from "../../../support/payments.ts"

// A dollar a million tokens of input, two of output; a thousandth of a dollar at least, and as fee.
const call = {
  model: "demo/echo",
  prices: {
    inputMicroUsdPerMillionTokens: 1_000_000,
    outputMicroUsdPerMillionTokens: 2_000_000,
    flatMicroUsd: undefined
  },
  prompt: { textBytes: 4_000, images: 0 },
  outputTokens: 4_000,
  count: 1,
  shape: "chat"
} as const
const ceiling = "10024"

const offer = offerOf(testNetwork, BigInt(ceiling), { maxTimeoutSeconds: 600 })

interface Seen {
  readonly moves: Array<readonly [ClaimMove["_tag"], string | undefined]>
  readonly requested: Array<string | undefined>
  /** Of the claims whose settlement was requested. */
  readonly revisions: Array<number>
}

/** A call that is paid by `scheme`, with all that its claim is told. */
const opened = Effect.fnUntraced(function* (
  kind: "whole" | "stream",
  scheme: "exact" | "upto" = "upto",
  /** What a move waits for, once it is stored. */
  answers: (tag: ClaimMove["_tag"]) => Effect.Effect<void> = () => Effect.void
) {
  const seen: Seen = { moves: [], requested: [], revisions: [] }
  let revision = 1
  const checked = checkedPayment("metered")
  const requirements = { ...offer.requirements, scheme }
  const claim = {
    key: checked.claimKey,
    revision: 1,
    record: {
      state: "CLAIMED",
      network: testNetwork.Network,
      payer: checked.payer,
      amount: ceiling,
      binding: "b",
      kind,
      ticket: "t",
      validBeforeMs: 600_000,
      payment: { payload: testPayload("metered"), requirements }
    }
  } as unknown as Claim
  const claims = {
    move: (from: Claim, { _tag }: ClaimMove) =>
      Effect.suspend(() => {
        seen.moves.push([_tag, from.record.charge])
        const next = { ...from, revision: (revision += 1) }
        return Effect.as(answers(_tag), next)
      })
  }
  const settlements = {
    request: ({ claim: from }: { readonly claim: Claim }) =>
      Effect.sync(() => {
        seen.requested.push(from.record.charge)
        seen.revisions.push(from.revision)
        const transaction = from.record.charge === "0" ? null : "0xaa"
        return { outcome: () => Effect.succeed({ _tag: "Settled", transaction }), close: Effect.void }
      })
  }
  const layer = Layer.mergeAll(PaidCalls.layer, ClaimPayments.layer).pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(Claims, claims as never),
        Layer.succeed(Settlements, settlements as never),
        Layer.succeed(PaidAnswers, { keep: () => Effect.void } as never),
        Layer.succeed(PaidJobs, {} as never),
        Layer.succeed(CallNames, {} as never),
        Layer.succeed(Requests, {} as never),
        Layer.succeed(Mailbox, { instance: "gateway" } as never),
        Configuration.layerOf({ Payments: { Networks: [testNetwork] } })
      )
    ),
    Layer.provideMerge(Metrics.layerTest)
  )
  const services = yield* Layer.build(layer)
  const payable = { ...call, kind } as unknown as PayableCall
  const quote = { resource: { url: "http://127.0.0.1/x" }, offers: [offer] as const }
  const verified = claimedPayment({ call: payable, quote, identifier: null, requirements }, claim)
  const method = { ...Context.get(services, ClaimPayments), take: () => Effect.succeed(verified) }
  const paid = yield* Context.get(services, PaidCalls).pay(method, undefined)
  const chargedUsd = Effect.map(Context.get(services, Metrics).text, (text) =>
    Number(/^gateway_charged_usd_total\{.*\} (\S+)$/mu.exec(text)?.[1])
  )
  return { paid, seen, chargedUsd }
})

const used = (changes: Partial<Used>): Used => ({ ...noUsage, ...changes })
const receiptIn = (headers: Readonly<Record<string, string>>) =>
  JSON.parse(Buffer.from(headers["payment-response"] ?? "", "base64").toString("utf8")) as Record<string, unknown>
const ended = (of: Used | null, body: Uint8Array | null = null) => ({ body, costMicroUsd: null, used: of })

describe("a renewal that ends late", () => {
  it.effect("does not put an older claim in the place of the one that its stream was begun with", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const late = yield* Deferred.make<void>()
        const { paid, seen } = yield* opened("stream", "exact", (tag) =>
          tag === "Renew" ? Deferred.await(late) : Effect.void
        )
        yield* TestClock.adjust("1 minute")
        yield* paid.serve
        assert.deepStrictEqual(seen.moves.slice(-1), [["Serve", undefined]])
        yield* Deferred.succeed(late, undefined)
        yield* Effect.yieldNow
        yield* paid.settle(ended(null))
        // The claim as it was served, and not as the renewal has left it.
        assert.deepStrictEqual(seen.revisions, [3])
      })
    )
  )
})

describe("a call whose charge follows its use", () => {
  it.effect("asks for the settlement of what a whole answer used, and says so in its receipt", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { paid, seen } = yield* opened("whole")
        const of = used({ inputTokens: 1_000, outputTokens: 2_000, isComplete: true })
        const { headers } = yield* paid.settle(ended(of, new Uint8Array(1)))
        assert.deepStrictEqual(seen.requested, ["6000"])
        assert.deepInclude(receiptIn(headers), { success: true, transaction: "0xaa", amount: "6000" })
      })
    )
  )

  it.effect("writes what a stream has used into its claim before the first byte", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { paid, seen } = yield* opened("stream")
        assert.isTrue(paid.measure(used({ inputTokens: 1_000, answerBytes: 4_000 })))
        yield* paid.serve
        assert.deepStrictEqual(seen.moves, [["Serve", "4000"]])
      })
    )
  )

  it.effect("asks for what was sent when its caller leaves the stream", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { paid, seen } = yield* opened("stream")
        paid.measure(used({ inputTokens: 1_000, answerBytes: 4_000 }))
        yield* paid.serve
        paid.measure(used({ inputTokens: 1_000, answerBytes: 8_000 }))
        yield* paid.leave
        assert.deepStrictEqual(seen.requested, ["6000"])
      })
    )
  )

  it.effect("gives out nothing beyond what was signed, and never charges more", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { paid, seen } = yield* opened("stream")
        yield* paid.serve
        assert.isTrue(paid.measure(used({ answerBytes: 30_000 })))
        assert.isFalse(paid.measure(used({ answerBytes: 40_000 })))
        yield* paid.settle(ended(used({ answerBytes: 30_000 })))
        assert.deepStrictEqual(seen.requested, [ceiling])
      })
    )
  )

  it.effect("asks for nothing and releases its payment when it fails, whatever was measured", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { paid, seen } = yield* opened("stream")
        yield* paid.serve
        paid.measure(used({ answerBytes: 8_000 }))
        yield* paid.release
        assert.deepStrictEqual(seen.requested, [])
        assert.strictEqual(seen.moves.at(-1)?.[0], "Release")
      })
    )
  )

  it.effect("has one charge when its payment ends before the stream does, which then may not continue", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { paid, seen, chargedUsd } = yield* opened("stream")
        yield* paid.serve
        paid.measure(used({ inputTokens: 1_000, answerBytes: 4_000 }))
        yield* (paid as unknown as { readonly force: Effect.Effect<void> }).force
        assert.isFalse(paid.measure(used({ inputTokens: 1_000, answerBytes: 8_000 })))
        yield* paid.settle(ended(used({ inputTokens: 1_000, answerBytes: 8_000 })))
        assert.deepStrictEqual(seen.requested, ["4000"])
        assert.strictEqual(yield* chargedUsd, 0.004)
      })
    )
  )

  it.effect("of a fixed price is not touched by what was used", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { paid, seen } = yield* opened("stream", "exact")
        yield* paid.serve
        assert.isTrue(paid.measure(used({ answerBytes: 1e9 })))
        const { headers } = yield* paid.settle(ended(used({ answerBytes: 1e9, isComplete: true })))
        assert.deepStrictEqual(seen.requested, [undefined])
        assert.notProperty(receiptIn(headers), "amount")
      })
    )
  )
})
