import { assert, describe, it } from "@effect/vitest"
import { ownStall } from "#runtime"

const tickMs = 250
const silenceMsMax = 1_000

interface Case {
  readonly says: string
  /** When the ticks came; the peer was heard at 0. */
  readonly ticks: ReadonlyArray<number>
  readonly isSilent: boolean
}

const cases: ReadonlyArray<Case> = [
  { says: "hears nothing for less than the limit", ticks: [250, 500, 750, 1_000], isSilent: false },
  { says: "hears nothing for longer than the limit", ticks: [250, 500, 750, 1_000, 1_250], isSilent: true },
  { says: "has just woken from a stall", ticks: [250, 500, 3_500], isSilent: false },
  { says: "woke from a stall and ticked once since", ticks: [250, 500, 3_500, 3_750], isSilent: false },
  {
    says: "woke from a stall, and was awake for the limit and what the stall still earns others",
    ticks: [250, 500, 3_500, 3_750, 4_000, 4_250, 4_500, 4_750],
    isSilent: true
  },
  {
    says: "stalls again and again",
    ticks: Array.from({ length: 20 }, (_, at) => (at + 1) * 600),
    isSilent: false
  },
  {
    says: "is a little late with every tick, as on any machine",
    ticks: Array.from({ length: 6 }, (_, at) => (at + 1) * 260),
    isSilent: true
  }
]

describe("a process that watches a peer", () => {
  for (const { says, ticks, isSilent } of cases) {
    it(`${isSilent ? "gives it up" : "goes on waiting"} when it ${says}`, () => {
      const stall = ownStall(tickMs, 0)
      for (const tick of ticks) stall.tick(tick)
      assert.strictEqual(stall.isSilent(0, silenceMsMax, ticks.at(-1) ?? 0), isSilent)
    })
  }

  it("forgets its own stall in the end, and gives up a dead peer", () => {
    const stall = ownStall(tickMs, 0)
    stall.tick(60_000)
    const ticks = Array.from({ length: 16 }, (_, at) => 60_000 + (at + 1) * tickMs)
    for (const tick of ticks) stall.tick(tick)
    assert.isTrue(stall.isSilent(0, silenceMsMax, ticks.at(-1) ?? 0))
  })

  it("counts a peer's sign of life after a stall from then on", () => {
    const stall = ownStall(tickMs, 0)
    stall.tick(2_000)
    const heardAtMs = stall.awakeMs(2_100)
    for (let tick = 2_250; tick <= 3_000; tick += tickMs) stall.tick(tick)
    assert.isFalse(stall.isSilent(heardAtMs, silenceMsMax, 3_000))
  })
})
