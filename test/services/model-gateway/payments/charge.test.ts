import { assert, describe, it } from "@effect/vitest"
import { tariffOf } from "#payments"
import {
  capped,
  leastPrice,
  noUsage,
  type Used,
  usedPrice
} from "../../../../services/model-gateway/payments/charge.ts"

const tariff = tariffOf({ FlatFeeUsd: 0.001, PriceMinUsd: 0.001, OutputShare: 0.1 })
// A dollar a million tokens of input, ten of output: a millionth of a dollar, and ten, for each token.
const byTokens = { inputMicroUsdPerMillionTokens: 1_000_000, outputMicroUsdPerMillionTokens: 10_000_000 }
// 4,000 bytes and one message: 1,004 tokens, which the quote rounds up to 1,024.
const prompt = { textBytes: 4_000, images: 0 }
const call = { prices: { ...byTokens, flatMicroUsd: undefined }, prompt, count: 1 }
const images = { prices: { ...byTokens, flatMicroUsd: 20_000 }, prompt, count: 3 }
const fee = 1_000n

const used = (changes: Partial<Used>): Used => ({ ...noUsage, ...changes })

describe("the charge of a call whose payer has signed a maximum", () => {
  it.each([
    [
      "reported tokens, whole",
      used({ inputTokens: 900, outputTokens: 200, answerBytes: 5_000, isComplete: true }),
      2_900n
    ],
    ["no report: an estimate and a count", used({ answerBytes: 400, isComplete: true }), 1_024n + 1_000n],
    ["only the input reported", used({ inputTokens: 900, answerBytes: 400, isComplete: true }), 900n + 1_000n],
    ["only the output reported", used({ outputTokens: 50, answerBytes: 4_000, isComplete: true }), 1_024n + 500n],
    [
      "a report of nought for an answer with content",
      used({ inputTokens: 0, outputTokens: 0, answerBytes: 400, isComplete: true }),
      2_024n
    ],
    [
      "broken off after a report that lags behind",
      used({ inputTokens: 900, outputTokens: 1, answerBytes: 400 }),
      900n + 1_000n
    ],
    [
      "broken off after a report of more than was seen",
      used({ inputTokens: 900, outputTokens: 500, answerBytes: 400 }),
      5_900n
    ],
    ["nothing given out yet", noUsage, 1_024n],
    ["less than the minimum", used({ inputTokens: 1, outputTokens: 1, answerBytes: 4, isComplete: true }), 1_000n],
    ["numbers that are none", used({ inputTokens: Number.NaN, outputTokens: -5, answerBytes: -1 }), 1_024n],
    ["an answer of no tokens", used({ inputTokens: 900, isComplete: true }), 1_000n]
  ] as const)("%s", (_, of, price) => {
    assert.strictEqual(usedPrice(tariff, call, of), price + fee)
  })

  it("is the flat price, whatever was used", () => {
    assert.strictEqual(usedPrice(tariff, images, noUsage), 60_000n + fee)
    assert.strictEqual(usedPrice(tariff, images, used({ outputTokens: 9_999, answerBytes: 1e6 })), 60_000n + fee)
  })

  const rounds = 2_000
  /** Numbers of all sizes, the same in every run. */
  const numbers = () => {
    let state = 42
    const next = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31
    const number = () => Math.floor(10 ** (next() * 7))
    const use = (): Used => ({
      inputTokens: next() < 0.3 ? null : number(),
      outputTokens: next() < 0.3 ? null : number(),
      answerBytes: number(),
      isComplete: next() < 0.5
    })
    return { number, use }
  }

  it("is never below nought nor above what was signed", () => {
    const { number, use } = numbers()
    for (let round = 0; round < rounds; round += 1) {
      const [of, ceiling] = [use(), BigInt(number())]
      const charge = capped(usedPrice(tariff, call, of), ceiling)
      if (charge < 0n || charge > ceiling) assert.fail(JSON.stringify(of))
    }
    assert.strictEqual(capped(-1n, 5n), 0n)
  })

  it("never falls while a stream continues, and is never less than the price at which one is cut", () => {
    const { number, use } = numbers()
    for (let round = 0; round < rounds; round += 1) {
      const now = { ...use(), isComplete: false }
      const later = { ...now, answerBytes: now.answerBytes + number() }
      const price = usedPrice(tariff, call, now)
      if (usedPrice(tariff, call, later) < price) assert.fail(JSON.stringify({ now, later }))
      if (price < leastPrice(tariff, call, now)) assert.fail(JSON.stringify(now))
    }
  })
})
