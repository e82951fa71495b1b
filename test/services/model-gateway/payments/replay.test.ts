import { assert, describe, it } from "@effect/vitest"
import type { ClaimState } from "#payments"
import type { PaidAnswer } from "../../../../services/model-gateway/payments/PaidAnswers.ts"
import { replayedCall, type ReplayFacts } from "../../../../services/model-gateway/payments/replay.ts"

type Record = NonNullable<ReplayFacts["record"]>

const name = "call-0123456789abcdef"
const accepted = {
  scheme: "exact",
  network: "eip155:84532",
  asset: "0xa",
  payTo: "0xb",
  amount: "1",
  maxTimeoutSeconds: 300
}
const paymentOf = (identifier: string | null): Record["payment"] => ({
  requirements: accepted as never,
  payload: {
    x402Version: 2,
    accepted: accepted as never,
    payload: {},
    ...(identifier === null ? {} : { extensions: { "payment-identifier": { info: { id: identifier } } } })
  }
})

const record = (state: ClaimState, identifier: string | null, more: Partial<Record> = {}): Record => ({
  state,
  network: "eip155:84532",
  asset: "0xa",
  payer: "0xc",
  payTo: "0xb",
  amount: "1",
  binding: "mine",
  kind: "whole",
  holder: "gateway",
  ticket: "life-2",
  moves: 1,
  validBeforeMs: 0,
  claimedAtMs: 0,
  requestedAtMs: null,
  transactions: state === "SETTLED" ? ["0x1", "0x2"] : [],
  asked: 0,
  reason: null,
  payment: state === "SETTLED" || state === "UNCOLLECTED" || state === "RELEASED" ? null : paymentOf(identifier),
  ...more
})
const answerOf = (identifier: string | null, binding = "mine"): PaidAnswer => ({
  label: { identifier, binding },
  body: new Uint8Array([1])
})
const job = { jobId: "img_1", ticket: "life-2" }

const nobody: ReplayFacts = {
  isImage: false,
  isHolderLost: false,
  identifier: null,
  binding: "mine",
  record: undefined,
  answer: undefined,
  job: undefined
}
const image = (more: Partial<ReplayFacts>): ReplayFacts => ({ ...nobody, isImage: true, ...more })
const named = (more: Partial<ReplayFacts>): ReplayFacts => ({ ...nobody, identifier: name, ...more })

/** Without a name, of a gateway that is gone. */
const lost = (more: Partial<ReplayFacts>): ReplayFacts => ({ ...nobody, isHolderLost: true, ...more })

const cases: ReadonlyArray<readonly [told: string, facts: ReplayFacts, tag: string]> = [
  ["an image in work by its job", image({ record: record("CLAIMED", null), job }), "Making"],
  ["an image that is being settled by its job", image({ record: record("SETTLING", null), job }), "Making"],
  ["an image whose job is not written down yet", image({ record: record("CLAIMED", null) }), "Answering"],
  [
    "an image of an earlier life of the payment",
    image({ record: record("CLAIMED", null), job: { ...job, ticket: "life-1" } }),
    "Answering"
  ],
  ["an image that is paid for", image({ record: record("SETTLED", null), answer: answerOf(null), job }), "Paid"],
  ["another image", image({ binding: "other", record: record("CLAIMED", null), job }), "Used"],
  ["an image whose payment was given back", image({ record: record("RELEASED", null), job }), "Free"],
  ["an image that the chain refused to pay for", image({ record: record("UNCOLLECTED", null), job }), "Used"],
  [
    "an image under another name",
    image({ identifier: name, record: record("CLAIMED", "another-0123456789"), job }),
    "Used"
  ],
  ["a named call in work", named({ record: record("CLAIMED", name) }), "Answering"],
  [
    "a named call that is being settled",
    named({ record: record("SETTLING", name), answer: answerOf(name) }),
    "Settling"
  ],
  ["a named call that is paid for", named({ record: record("SETTLED", null), answer: answerOf(name) }), "Paid"],
  ["a named call whose answer is gone", named({ record: record("SETTLED", null) }), "Used"],
  [
    "an answer that was kept for an earlier call",
    named({ record: record("SETTLED", null), answer: answerOf(name, "other") }),
    "Used"
  ],
  ["a name that stands for another request", named({ binding: "other", record: record("CLAIMED", name) }), "NameTaken"],
  ["a named stream in work", named({ record: record("SERVING", name, { kind: "stream" }) }), "Used"],
  ["a call without a name", { ...nobody, record: record("SETTLED", null), answer: answerOf(name) }, "Used"],
  ["a paid call whose gateway is gone", lost({ record: record("SETTLED", null), answer: answerOf(null) }), "Paid"],
  ["one that is being settled after its gateway", lost({ record: record("SETTLING", null) }), "Settling"],
  ["one that its gateway has left in work", lost({ record: record("CLAIMED", null) }), "Answering"],
  [
    "a named call of a lost gateway without its name",
    lost({ record: record("SETTLED", null), answer: answerOf(name) }),
    "Used"
  ],
  ["a named call in work of a lost gateway without its name", lost({ record: record("CLAIMED", name) }), "Used"],
  [
    "another request to a lost gateway",
    lost({ binding: "other", record: record("SETTLED", null), answer: answerOf(null) }),
    "Used"
  ],
  ["a stream of a lost gateway", lost({ record: record("SETTLED", null, { kind: "stream" }) }), "Used"],
  [
    "an unnamed call of a gateway that is there",
    { ...nobody, record: record("SETTLED", null), answer: answerOf(null) },
    "Used"
  ],
  ["a payment that nobody knows", image({ job }), "Used"]
]

describe("a used payment", () => {
  it.each(cases)("is answered for %s", (_told, facts, tag) => {
    assert.strictEqual(replayedCall(facts)._tag, tag)
  })

  it("names an image's job, and the newest transaction of a paid call", () => {
    assert.deepStrictEqual(replayedCall(image({ record: record("CLAIMED", null), job })), {
      _tag: "Making",
      jobId: "img_1"
    })
    const paid = replayedCall(image({ record: record("SETTLED", null), answer: answerOf(null) }))
    assert.deepInclude(paid, { transaction: "0x2", network: "eip155:84532", payer: "0xc" })
  })
})
