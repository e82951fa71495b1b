import { assert, describe, it } from "@effect/vitest"
import { type AdmissionLimits, admit, type Asker, type Load } from "#speech"

const limits: AdmissionLimits = { awaitingMax: 8, decideWithinMs: 500, beginWithinMs: 2_500, waitingMax: 256 }
const idle: Load = {
  awaiting: 0,
  buffering: 0,
  low: 0,
  starving: 0,
  isMaking: true,
  firstMs: 40,
  fullMs: 100,
  aloneMs: 25,
  firstEveryMs: 5,
  needs: 0,
  makes: Number.POSITIVE_INFINITY,
  isSaturated: false,
  endsEveryMs: 10_000,
  beganEveryMs: Number.POSITIVE_INFINITY,
  lateMs: 0
}
const first: Asker = { ahead: 0, waitedMs: 0, isPromised: false, recentlyRefused: 0 }

interface Case {
  readonly says: string
  readonly load?: Partial<Load>
  readonly asker?: Partial<Asker>
  /** The decision, with the reason and the seconds of a refusal. */
  readonly is: string
}

const cases: ReadonlyArray<Case> = [
  {
    says: "the queue is as long as it may be",
    load: { awaiting: 8, buffering: 8, firstEveryMs: 0.1, firstMs: 1 },
    asker: { ahead: 256 },
    is: "Refuse beginnings 1"
  },
  {
    says: "the queue is one shorter than it may be",
    load: { awaiting: 8, buffering: 8, firstEveryMs: 0.1, firstMs: 1 },
    asker: { ahead: 255 },
    is: "Wait"
  },
  { says: "nobody is there", is: "Begin" },
  { says: "hundreds listen who have enough", load: { needs: 100 }, is: "Begin" },
  { says: "there is a place among those who begin", load: { awaiting: 7, buffering: 7 }, is: "Begin" },
  { says: "as many await first audio as may", load: { awaiting: 8, buffering: 8 }, is: "Wait" },
  { says: "those who began are heard and have no full buffer yet", load: { awaiting: 7, buffering: 31 }, is: "Begin" },
  { says: "four times as many have no full buffer as may await first audio", load: { buffering: 32 }, is: "Wait" },
  { says: "they would need more than was made, and more could be made", load: { makes: 4, needs: 4 }, is: "Begin" },
  {
    says: "its engine fills so few buffers in time that the last of more would starve",
    load: { buffering: 4, makes: 15 },
    is: "Wait"
  },
  { says: "fewer buffers are being filled than that", load: { buffering: 3, makes: 15 }, is: "Begin" },
  { says: "somebody asked before", asker: { ahead: 1 }, is: "Wait" },
  { says: "a listener has little left", load: { low: 1 }, is: "Wait" },
  {
    says: "all have enough now, and with one more would need as much as is made",
    load: { isSaturated: true, makes: 155, needs: 147 },
    is: "Wait"
  },
  { says: "they would need less", load: { isSaturated: true, makes: 155, needs: 146 }, is: "Begin" },
  { says: "nobody needs anything, however little was made", load: { isSaturated: true, makes: 0.5 }, is: "Begin" },
  {
    says: "one that is heard is about to fall silent before it has a full buffer",
    load: { starving: 1, buffering: 1 },
    is: "Wait"
  },
  {
    says: "its engine makes what is due half a second late",
    load: { awaiting: 1, buffering: 1, firstMs: 600 },
    is: "Wait"
  },
  { says: "its engine was late, and nobody shows that it still is", load: { firstMs: 600 }, is: "Begin" },
  { says: "the process is late itself and one is at it", load: { buffering: 1, lateMs: 400 }, is: "Wait" },
  { says: "the process is late itself and nobody is at it", load: { buffering: 0, lateMs: 400 }, is: "Begin" },
  {
    says: "the time to decide is over and the queue is short enough",
    load: { awaiting: 8, buffering: 8, firstEveryMs: 100 },
    asker: { ahead: 18, waitedMs: 500 },
    is: "Promise"
  },
  {
    says: "the time to decide is over, the queue is short enough, and none that began has got audio",
    load: { awaiting: 8, buffering: 8, isMaking: false },
    asker: { waitedMs: 500 },
    is: "Refuse beginnings 1"
  },
  {
    says: "the time to decide is over, the queue is short enough, and as many have no full buffer as may",
    load: { buffering: 32 },
    asker: { waitedMs: 500 },
    is: "Refuse beginnings 1"
  },
  {
    says: "the time to decide is over and the queue is too long",
    load: { awaiting: 8, buffering: 8, firstEveryMs: 100 },
    asker: { ahead: 20, waitedMs: 500 },
    is: "Refuse beginnings 3"
  },
  {
    says: "the time to decide is over and beginnings have come to a standstill",
    load: { awaiting: 8, firstMs: 1_830, buffering: 8, firstEveryMs: 1_200 },
    asker: { ahead: 0, waitedMs: 610 },
    is: "Refuse beginnings 2"
  },
  {
    says: "the time to decide is over and a listener has little left: a place is free when one of them ends",
    load: { low: 2, endsEveryMs: 3_000 },
    asker: { ahead: 1, waitedMs: 500 },
    is: "Refuse listeners 6"
  },
  {
    says: "it has just come and even twice the pace that is measured would not serve it",
    load: { awaiting: 8, buffering: 8, firstEveryMs: 110 },
    asker: { ahead: 46 },
    is: "Refuse beginnings 6"
  },
  {
    says: "it has just come and twice the pace that is measured would serve it",
    load: { awaiting: 8, buffering: 8, firstEveryMs: 110 },
    asker: { ahead: 42 },
    is: "Wait"
  },
  {
    says: "the time to decide is over and one that is heard is about to fall silent: it is so in a moment no more",
    load: { starving: 1, buffering: 1 },
    asker: { waitedMs: 500 },
    is: "Promise"
  },
  {
    says: "places have become rare while others began all the same",
    load: { awaiting: 8, buffering: 8, firstMs: 4_000, firstEveryMs: 500, beganEveryMs: 150 },
    asker: { ahead: 9, waitedMs: 500, recentlyRefused: 30 },
    is: "Refuse beginnings 6"
  },
  {
    says: "others were told to come again before it",
    load: { low: 2, endsEveryMs: 3_000 },
    asker: { waitedMs: 500, recentlyRefused: 4 },
    is: "Refuse listeners 15"
  },
  {
    says: "the process is late itself until the time to decide is over",
    load: { buffering: 1, lateMs: 400 },
    asker: { waitedMs: 500 },
    is: "Refuse stalled 1"
  },
  {
    says: "it would have to come again after minutes",
    load: { low: 1, endsEveryMs: 400_000 },
    asker: { waitedMs: 500 },
    is: "Refuse listeners 60"
  },
  {
    says: "first audio is very slow and nobody awaits it",
    load: { firstMs: 60_000, fullMs: 60_000, firstEveryMs: 60_000 },
    is: "Begin"
  },
  {
    says: "the queue is full",
    load: { awaiting: 8, buffering: 8, firstEveryMs: 100 },
    asker: { ahead: 256 },
    is: "Refuse beginnings 26"
  },
  {
    says: "it was promised to be served and a listener has little left since",
    load: { low: 1 },
    asker: { waitedMs: 3_000, isPromised: true },
    is: "Wait"
  },
  {
    says: "it was promised to be served and its turn has come",
    asker: { waitedMs: 3_000, isPromised: true },
    is: "Begin"
  },
  {
    says: "it was promised to be served four times as long ago as it should have begun",
    load: { awaiting: 8 },
    asker: { waitedMs: 10_001, isPromised: true },
    is: "Refuse beginnings 1"
  }
]

describe("a call", () => {
  for (const { says, load, asker, is } of cases) {
    it(`is answered ${is} when ${says}`, () => {
      const verdict = admit({ ...idle, ...load }, { ...first, ...asker }, limits)
      const shown = verdict._tag === "Refuse" ? `Refuse ${verdict.reason} ${verdict.retryAfterSeconds}` : verdict._tag
      assert.strictEqual(shown, is)
    })
  }
})

describe("a call that is to be heard within half a second", () => {
  const soon: AdmissionLimits = { ...limits, beginWithinMs: 500 }
  const load: Load = { ...idle, firstMs: 60, awaiting: 8, buffering: 8 }

  it("waits while its first audio would still be in time, and is refused before it has waited longer", () => {
    assert.strictEqual(admit(load, { ...first, waitedMs: 400 }, soon)._tag, "Wait")
    const late = admit(load, { ...first, waitedMs: 410 }, soon)
    assert.deepStrictEqual(late, { _tag: "Refuse", reason: "beginnings", retryAfterSeconds: 1 })
  })

  it("waits for half of it when first audio takes longer at the moment, for the next one may be faster", () => {
    assert.strictEqual(admit({ ...load, firstMs: 900 }, { ...first, waitedMs: 240 }, soon)._tag, "Wait")
    assert.strictEqual(admit({ ...load, firstMs: 900 }, { ...first, waitedMs: 250 }, soon)._tag, "Refuse")
  })

  it("is refused at once when those before it take twice as long, by what first audio takes", () => {
    const asker = { ...first, ahead: 40 }
    assert.strictEqual(admit({ ...load, firstEveryMs: 20 }, asker, soon)._tag, "Wait")
    assert.strictEqual(admit({ ...load, firstEveryMs: 25 }, asker, soon)._tag, "Refuse")
  })

  it("may be one of many where first audio comes fast, and only the last wait too long", () => {
    const crowd = (ahead: number) =>
      admit({ ...load, firstMs: 100, firstEveryMs: 12, buffering: 20 }, { ...first, ahead, waitedMs: 300 }, soon)
    assert.strictEqual(crowd(2)._tag, "Wait")
    assert.strictEqual(crowd(60)._tag, "Refuse")
  })

  it("is refused when its turn comes while others await first audio, and it would be heard too late after them", () => {
    const slow = { firstMs: 100, firstEveryMs: 25, awaiting: 3, buffering: 3 }
    const begins = (waitedMs: number, more: Partial<Load> = {}, isPromised = false) =>
      admit({ ...idle, ...slow, ...more }, { ...first, waitedMs, isPromised }, soon)._tag
    assert.strictEqual(begins(325), "Begin")
    assert.strictEqual(begins(326), "Wait")
    assert.strictEqual(begins(351), "Refuse")
    assert.strictEqual(begins(351, { awaiting: 2 }), "Begin")
    assert.strictEqual(begins(499, { awaiting: 0 }), "Begin")
    assert.strictEqual(begins(499, {}, true), "Begin")
  })

  it("counts as having waited for what this process is late, which read it as late", () => {
    const begins = (waitedMs: number, lateMs: number) =>
      admit({ ...idle, awaiting: 3, firstEveryMs: 25, lateMs }, { ...first, waitedMs }, soon)._tag
    assert.strictEqual(begins(325, 0), "Begin")
    assert.strictEqual(begins(225, 100), "Begin")
    assert.strictEqual(begins(226, 100), "Wait")
  })

  it("waits with only a few that await first audio where the engine is so slow that the last of more would be heard too late", () => {
    const begins = (awaiting: number) =>
      admit({ ...idle, firstEveryMs: 100, awaiting, buffering: awaiting }, first, soon)._tag
    assert.deepStrictEqual([0, 1, 2, 3, 4, 7].map(begins), ["Begin", "Begin", "Begin", "Wait", "Wait", "Wait"])
  })

  it("waits longer where the engine takes long even alone: four times as long, and 2.5 s at most", () => {
    const asked = (aloneMs: number, waitedMs: number) =>
      admit({ ...load, firstMs: aloneMs, aloneMs }, { ...first, waitedMs }, soon)._tag
    assert.strictEqual(asked(60, 420), "Refuse")
    assert.strictEqual(asked(300, 420), "Wait")
    assert.strictEqual(asked(300, 500), "Promise")
    assert.strictEqual(asked(300, 800), "Refuse")
    assert.strictEqual(asked(700, 500), "Promise")
    assert.strictEqual(asked(1_400, 500), "Refuse")
  })

  it("waits ten seconds at least once it is promised to be served", () => {
    const asked = (waitedMs: number) => admit(load, { ...first, waitedMs, isPromised: true }, soon)._tag
    assert.strictEqual(asked(10_000), "Wait")
    assert.strictEqual(asked(10_001), "Refuse")
  })

  it("begins at once or is refused where there is no time to wait, however slow the engine is alone", () => {
    const now: AdmissionLimits = { ...limits, decideWithinMs: 0, beginWithinMs: 0 }
    assert.strictEqual(admit({ ...load, aloneMs: 900 }, first, now)._tag, "Refuse")
    assert.strictEqual(admit({ ...idle, aloneMs: 900 }, first, now)._tag, "Begin")
  })
})
