/** Random lives of a claim: what holds after any moves, in any order. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type ClaimMove,
  type ClaimRecord,
  dueMove,
  hasEnded,
  moved,
  moveOf
} from "../../../../libs/payments/claims/claim.ts"
import { allowed, record, steps } from "./moves.ts"

/** One key of the bucket: a write succeeds only on the revision it names. */
const makeKey = () => {
  let stored: { readonly record: ClaimRecord; readonly revision: number } | undefined
  let revision = 0
  return {
    read: () => stored,
    write: (next: ClaimRecord, expected: number) => {
      if ((stored?.revision ?? 0) !== expected) return undefined
      revision += 1
      stored = { record: next, revision }
      return revision
    }
  }
}

describe("any actions in any order, with any crashes in between", () => {
  const actors = 4
  // A crash forgets the actor's reading; a look reads anew; every other step writes from its last reading.
  const deeds = [
    "crash",
    "look",
    "look",
    "look",
    "claim",
    "sweep",
    ...(Object.keys(steps) as Array<ClaimMove["_tag"]>)
  ] as const
  const scriptOf = (seed: number) => {
    let state = seed >>> 0
    const below = (bound: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * bound)
    }
    return Array.from({ length: 200 }, () => ({ actor: below(actors), does: deeds[below(deeds.length)] ?? "look" }))
  }
  const reached = new Set<string>()

  it.prop(
    "give a payment one holder at a time, never free it once it is to be settled, and end it once",
    [Schema.Int],
    ([seed]) => {
      const script = scriptOf(seed)
      const key = makeKey()
      const seen: Array<ReturnType<typeof key.read>> = Array.from({ length: actors })
      const history: Array<ClaimRecord> = []
      const writesOf = new Map<number, number>()
      let tickets = 0
      for (const { actor, does } of script) {
        const known = seen[actor]
        if (does === "crash") seen[actor] = undefined
        if (does === "look") seen[actor] = key.read()
        if (does === "crash" || does === "look") continue
        let next: ClaimRecord | undefined
        if (does === "claim") {
          const isFree = known === undefined || known.record.state === "RELEASED"
          next = isFree ? { ...record("CLAIMED"), ticket: `t${(tickets += 1)}` } : undefined
        } else if (does === "sweep" && known !== undefined) {
          const due = dueMove({ ...known.record, writtenAtMs: 0 }, 10 ** 9, { leaseMs: 1, settleWithinMs: 1 })
          next = due === undefined ? undefined : moved(known.record, moveOf(due), 0)
        } else if (does !== "sweep" && known !== undefined) next = moved(known.record, steps[does], 0)
        if (next === undefined) continue
        const written = key.write(next, known?.revision ?? 0)
        if (written === undefined) continue
        writesOf.set(written, (writesOf.get(written) ?? 0) + 1)
        seen[actor] = { record: next, revision: written }
        history.push(next)
        reached.add(next.state)
      }
      let mustSettle = false
      for (const [index, now] of history.entries()) {
        const before = history[index - 1]
        if (mustSettle) assert.include(["SETTLING", "SETTLED", "UNCOLLECTED"], now.state)
        mustSettle ||= now.state === "SETTLING"
        if (before !== undefined && before.ticket !== now.ticket) assert.strictEqual(before.state, "RELEASED")
        if (before !== undefined && hasEnded(before.state)) assert.strictEqual(before.state, "RELEASED")
      }
      assert.isTrue([...writesOf.values()].every((writes) => writes === 1))
    },
    { arbitrary: { runs: 500 } }
  )

  it("visit every state", () => {
    assert.deepStrictEqual([...reached].toSorted(), Object.keys(allowed).toSorted())
  })
})
