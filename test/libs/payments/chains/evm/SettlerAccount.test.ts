import { Schema } from "effect"
import { assert, describe, it } from "@effect/vitest"
import {
  forgetBelow,
  gapsOf,
  type NonceSequence,
  returnNonce,
  sequenceFrom,
  takeNonce,
  useNonce
} from "../../../../../libs/payments/chains/evm/SettlerAccount.ts"

const taken = (sequence: NonceSequence, times: number) => {
  let rest = sequence
  for (let time = 0; time < times; time += 1) rest = takeNonce(rest, 0)[1]
  return rest
}

describe("the nonces of a settler", () => {
  it("are handed out in order, from the chain's own", () => {
    const [first, rest] = takeNonce(sequenceFrom(7), 0)

    assert.strictEqual(first, 7)
    assert.strictEqual(takeNonce(rest, 0)[0], 8)
  })

  it("are handed out again before later ones when nothing was sent with them", () => {
    const sequence = returnNonce(taken(sequenceFrom(0), 3), 1)

    assert.strictEqual(takeNonce(sequence, 0)[0], 1)
    assert.strictEqual(takeNonce(takeNonce(sequence, 0)[1], 0)[0], 3)
  })

  it("are as if never handed out when the last ones come back", () => {
    const sequence = returnNonce(returnNonce(taken(sequenceFrom(0), 3), 1), 2)

    assert.deepStrictEqual(sequence, { next: 1, returned: [], out: new Map([[0, 0]]) })
  })

  it("leave a gap when one was lost and later ones were sent", () => {
    const sequence = useNonce(useNonce(taken(sequenceFrom(4), 3), 4), 6)

    assert.deepStrictEqual(gapsOf(sequence, 4, 0), [4, 6])
    assert.deepStrictEqual(gapsOf(sequence, 6, 0), [6])
    assert.deepStrictEqual(gapsOf(sequence, 7, 0), [])
  })

  it("leave a gap when the chain's next one was handed out long ago, and only there", () => {
    const [, first] = takeNonce(sequenceFrom(4), 1_000)
    const [, both] = takeNonce(first, 2_000)

    assert.deepStrictEqual(gapsOf(both, 4, 1_000), [])
    assert.deepStrictEqual(gapsOf(both, 4, 3_000), [4])
    assert.deepStrictEqual(gapsOf(both, 5, 1_500), [])
  })

  it("below the chain's own are forgotten", () => {
    const sequence = forgetBelow(returnNonce(taken(sequenceFrom(0), 3), 0), 9)

    assert.strictEqual(takeNonce(sequence, 0)[0], 9)
  })

  const Step = Schema.Tuple([
    Schema.Literals(["take", "use", "return"]),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))
  ])
  it.prop("are never held twice at once, in any order of use and return", [Schema.Array(Step)], ([steps]) => {
    let sequence = sequenceFrom(3)
    const held: Array<number> = []
    const used = new Set<number>()
    for (const [what, which] of steps) {
      if (what === "take") {
        const [nonce, rest] = takeNonce(sequence, 0)
        assert.isFalse(held.includes(nonce) || used.has(nonce))
        held.push(nonce)
        sequence = rest
        continue
      }
      const [nonce] = held.splice(which % Math.max(1, held.length), 1)
      if (nonce === undefined) continue
      if (what === "use") used.add(nonce)
      sequence = what === "use" ? useNonce(sequence, nonce) : returnNonce(sequence, nonce)
    }
    const ascending = (numbers: Iterable<number>) => [...numbers].toSorted((left, right) => left - right)
    assert.deepStrictEqual(ascending(sequence.out.keys()), ascending(held))
  })
})
