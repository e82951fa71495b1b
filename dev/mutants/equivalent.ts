/**
 * Mutants that no test can notice, for what they change makes no difference: each with the reason. They are named by their
 * code, so that lines above may come and go; a test fails for one that no mutant answers to any more.
 */
import { keyOf, type Mutant } from "./mutant.ts"

export interface Equivalent extends Omit<Mutant, "line" | "edit"> {
  readonly reason: string
}

export const equivalents: ReadonlyArray<Equivalent> = [
  {
    file: "libs/bus/connection/dial.ts",
    place: "settings",
    operator: "number",
    before: "reconnectJitterTLS: 100,",
    after: "reconnectJitterTLS: 101,",
    reason: "drawn at random, whose exact bound nobody is promised"
  },
  {
    file: "libs/bus/message.ts",
    place: "desk",
    operator: "number",
    before: "const desk = new Uint8Array(64 * 1_024)",
    after: "const desk = new Uint8Array(65 * 1_024)",
    reason: "longer texts are encoded to the same bytes elsewhere"
  },
  {
    file: "libs/bus/message.ts",
    place: "encodeUtf8",
    operator: "decided",
    before:
      "text.length * utf8BytesMax > desk.length ? utf8Encoder.encode(text) : desk.slice(0, utf8Encoder.encodeInto(text, desk).written)",
    after: "(utf8Encoder.encode(text))",
    reason: "the same bytes, more slowly"
  },
  {
    file: "libs/bus/topology/topology.ts",
    place: "streamsByFirstToken",
    operator: "number",
    before: 'own.map((subject) => [subject.split(".", 1)[0] ?? "", name])',
    after: 'own.map((subject) => [subject.split(".", 2)[0] ?? "", name])',
    reason: "the first part is the same, of however many"
  },
  {
    file: "libs/bus/topology/apply.ts",
    place: "isAtLeast",
    operator: "boundary",
    before: "if (difference !== 0) return difference > 0",
    after: "if (difference !== 0) return difference >= 0",
    reason: "it is not zero here"
  },
  {
    file: "libs/payments/claims/PayerStore.ts",
    place: "sameMoney",
    operator: "sum",
    before: 'const sameMoney = place.claimKey.slice(0, place.claimKey.lastIndexOf(".") + 1)',
    after: 'const sameMoney = place.claimKey.slice(0, place.claimKey.lastIndexOf(".") - 1)',
    reason: "all places of a record are one payer's: the last character of its address tells none apart"
  },
  {
    file: "libs/payments/claims/sweep.ts",
    place: "see",
    operator: "decided",
    before: "if (unread.size >= unreadMax) readAll()",
    after: "if ((unread.size >= unreadMax) || true) readAll()",
    reason: "records are read earlier than they must be, and say the same"
  },
  {
    file: "libs/payments/claims/take-claim.ts",
    place: "pausesMs",
    operator: "number",
    before: "const pausesMs = [0, 100, 300, 600]",
    after: "const pausesMs = [0, 101, 300, 600]",
    reason: "a wait for a transfer to be recorded, whose exact length nobody is promised"
  },
  {
    file: "services/webhook-dispatcher/delivery-attempt.ts",
    place: "triedOnce",
    operator: "number",
    before: "const triedOnce: RetrySettings = { waitsMs: [], jitter: 0, retryAfterMsMax: 0 }",
    after: "const triedOnce: RetrySettings = { waitsMs: [], jitter: 0, retryAfterMsMax: 1 }",
    reason: "without a second attempt there is no wait for a receiver to lengthen"
  }
]

const keys = new Set(equivalents.map(keyOf))

export const isEquivalent = (mutant: Mutant) => keys.has(keyOf(mutant))

/** Those of a list that none of the mutants is. */
export const goneOf = (list: ReadonlyArray<Equivalent>, mutants: ReadonlyArray<Mutant>) => {
  const made = new Set(mutants.map(keyOf))
  return list.filter((each) => !made.has(keyOf(each)))
}
