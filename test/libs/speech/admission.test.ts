import { assert, describe, it } from "@effect/vitest"
import { type AdmissionLimits, admit, type Asker, listeners, type Load, soundMsOf } from "#speech"

const limits: AdmissionLimits = { unheardMax: 8, decideWithinMs: 500, beginWithinMs: 2_500, waitingMax: 256 }
const idle: Load = {
  unheard: 0,
  firstMs: 40,
  isMaking: true,
  aloneMs: 25,
  heardEveryMs: 5,
  young: 0,
  growMs: 100,
  storeEveryMs: 10,
  thin: 0,
  lean: 0,
  gain: Number.POSITIVE_INFINITY,
  share: Number.POSITIVE_INFINITY,
  makes: Number.POSITIVE_INFINITY,
  needs: 0,
  listening: 0,
  lastsMs: 10_000,
  beganEveryMs: Number.POSITIVE_INFINITY,
  lateMs: 0
}
const first: Asker = { ahead: 0, waitedMs: 0, isPromised: false, sentAway: 0 }

interface Case {
  readonly says: string
  readonly load?: Partial<Load>
  readonly asker?: Partial<Asker>
  /** The decision, with the reason and the seconds of a refusal. */
  readonly is: string
}

const cases: ReadonlyArray<Case> = [
  {
    says: "as many wait as may",
    load: { unheard: 8, young: 8, storeEveryMs: 1, heardEveryMs: 0.1, firstMs: 1 },
    asker: { ahead: 256 },
    is: "Refuse beginnings 1"
  },
  {
    says: "one fewer waits than may",
    load: { unheard: 8, young: 8, storeEveryMs: 1, heardEveryMs: 0.1, firstMs: 1 },
    asker: { ahead: 255 },
    is: "Wait"
  },
  { says: "nobody is there", is: "Begin" },
  { says: "hundreds listen who have enough", load: { listening: 400 }, is: "Begin" },
  { says: "there is a place among those who begin", load: { unheard: 7, young: 7, listening: 50 }, is: "Begin" },
  { says: "as many are unheard as may be", load: { unheard: 8, young: 8 }, is: "Wait" },
  { says: "those who began are heard and have no store yet", load: { unheard: 7, young: 31 }, is: "Begin" },
  { says: "four times as many have no store as may be unheard", load: { young: 32 }, is: "Wait" },
  {
    says: "its engine gives a store to so few that the last of more would fall silent",
    load: { young: 3, storeEveryMs: 250 },
    is: "Wait"
  },
  { says: "fewer are at it than that", load: { young: 2, storeEveryMs: 250 }, is: "Begin" },
  { says: "a store takes so long that fewer at once are faster", load: { young: 8, growMs: 750 }, is: "Wait" },
  { says: "somebody asked before", asker: { ahead: 1 }, is: "Wait" },
  { says: "a listener has little left", load: { thin: 1, listening: 9 }, is: "Wait" },
  {
    says: "all have enough now, and with one more would need as much as is made",
    load: { share: 1, makes: 155, needs: 147, listening: 200 },
    is: "Wait"
  },
  { says: "they would need less", load: { share: 1, makes: 155, needs: 146, listening: 200 }, is: "Begin" },
  {
    says: "they would need more than was made, while stores grow: more could be made",
    load: { share: 1.2, makes: 4, needs: 4, listening: 4 },
    is: "Begin"
  },
  { says: "nobody needs anything, however little was made", load: { share: 0.5, makes: 0.5 }, is: "Begin" },
  { says: "one that is heard is about to fall silent before it has a store", load: { lean: 1, young: 1 }, is: "Wait" },
  { says: "its engine makes what is due half a second late", load: { unheard: 1, young: 1, firstMs: 600 }, is: "Wait" },
  { says: "its engine was late, and nobody shows that it still is", load: { firstMs: 600 }, is: "Begin" },
  { says: "the process is late itself and one is at it", load: { young: 1, lateMs: 400 }, is: "Wait" },
  { says: "the process is late itself and nobody is at it", load: { young: 0, lateMs: 400 }, is: "Begin" },
  {
    says: "the time to decide is over and the line is short enough",
    load: { unheard: 8, young: 8, storeEveryMs: 100 },
    asker: { ahead: 18, waitedMs: 500 },
    is: "Promise"
  },
  {
    says: "the time to decide is over, the line is short enough, and none that began has got a sound",
    load: { unheard: 8, young: 8, isMaking: false },
    asker: { waitedMs: 500 },
    is: "Refuse beginnings 1"
  },
  {
    says: "the time to decide is over and the line is too long",
    load: { unheard: 8, young: 8, storeEveryMs: 100 },
    asker: { ahead: 20, waitedMs: 500 },
    is: "Refuse beginnings 3"
  },
  {
    says: "the time to decide is over and beginnings have come to a standstill",
    load: { unheard: 8, firstMs: 1_830, young: 8, storeEveryMs: 1_200 },
    asker: { ahead: 0, waitedMs: 610 },
    is: "Refuse beginnings 2"
  },
  {
    says: "the time to decide is over and a listener has little left: a place is free when one of them ends",
    load: { thin: 2, listening: 10, lastsMs: 30_000 },
    asker: { ahead: 1, waitedMs: 500 },
    is: "Refuse listeners 6"
  },
  {
    says: "it has just come and even twice the pace that is measured would not serve it",
    load: { young: 8, storeEveryMs: 110 },
    asker: { ahead: 46 },
    is: "Refuse beginnings 6"
  },
  {
    says: "it has just come and twice the pace that is measured would serve it",
    load: { young: 8, storeEveryMs: 110 },
    asker: { ahead: 42 },
    is: "Wait"
  },
  {
    says: "it has just come, even twice the pace would not serve it, and the line is short: a few are told in no time",
    load: { young: 8, storeEveryMs: 750 },
    asker: { ahead: 7 },
    is: "Wait"
  },
  {
    says: "the time to decide is over and one that is heard is about to fall silent: it is so in a moment no more",
    load: { lean: 1, young: 1 },
    asker: { waitedMs: 500 },
    is: "Promise"
  },
  {
    says: "places have become rare while others began all the same",
    load: { unheard: 8, young: 8, storeEveryMs: 750, firstMs: 4_000, heardEveryMs: 500, beganEveryMs: 150 },
    asker: { ahead: 9, waitedMs: 500, sentAway: 30 },
    is: "Refuse beginnings 6"
  },
  {
    says: "others were told to come again before it",
    load: { thin: 2, listening: 10, lastsMs: 30_000 },
    asker: { waitedMs: 500, sentAway: 4 },
    is: "Refuse listeners 15"
  },
  {
    says: "the process is late itself until the time to decide is over",
    load: { young: 1, lateMs: 400 },
    asker: { waitedMs: 500 },
    is: "Refuse stalled 1"
  },
  {
    says: "it would have to come again after minutes",
    load: { thin: 1, listening: 1, lastsMs: 400_000 },
    asker: { waitedMs: 500 },
    is: "Refuse listeners 60"
  },
  {
    says: "beginnings are so slow that fewer at once are faster",
    load: { young: 2, growMs: 3_200 },
    is: "Wait"
  },
  { says: "beginnings are slow and fewer are at it than that", load: { young: 1, growMs: 3_200 }, is: "Begin" },
  { says: "beginnings are very slow and nobody is at it", load: { growMs: 60_000, storeEveryMs: 60_000 }, is: "Begin" },
  {
    says: "the line is full",
    load: { young: 8, storeEveryMs: 100 },
    asker: { ahead: 256 },
    is: "Refuse beginnings 26"
  },
  {
    says: "it was promised to be served and a listener has little left since",
    load: { thin: 1 },
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
    load: { unheard: 8 },
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

const group = "espeak"

const entered = (plays = true) => {
  const book = listeners()
  return { book, one: book.enter({ group, nowMs: 0, plays, soundMs: 20_000 }) }
}

describe("a call that is to be heard within half a second", () => {
  const soon: AdmissionLimits = { ...limits, beginWithinMs: 500 }
  const load: Load = { ...idle, firstMs: 60, unheard: 8, young: 8 }

  it("waits while its first sound would still be in time, and is refused before it has waited longer", () => {
    assert.strictEqual(admit(load, { ...first, waitedMs: 400 }, soon)._tag, "Wait")
    const late = admit(load, { ...first, waitedMs: 410 }, soon)
    assert.deepStrictEqual(late, { _tag: "Refuse", reason: "beginnings", retryAfterSeconds: 1 })
  })

  it("waits for half of it when a first sound takes longer just now, for the next one may be faster", () => {
    assert.strictEqual(admit({ ...load, firstMs: 900 }, { ...first, waitedMs: 240 }, soon)._tag, "Wait")
    assert.strictEqual(admit({ ...load, firstMs: 900 }, { ...first, waitedMs: 250 }, soon)._tag, "Refuse")
  })

  it("is refused at once when those before it take twice as long, by what a first sound takes", () => {
    const asker = { ...first, ahead: 40 }
    assert.strictEqual(admit({ ...load, heardEveryMs: 20 }, asker, soon)._tag, "Wait")
    assert.strictEqual(admit({ ...load, heardEveryMs: 25 }, asker, soon)._tag, "Refuse")
  })

  it("may be one of many where first sounds come fast, and only the last wait too long", () => {
    const crowd = (ahead: number) =>
      admit({ ...load, firstMs: 100, heardEveryMs: 12, young: 20 }, { ...first, ahead, waitedMs: 300 }, soon)
    assert.strictEqual(crowd(2)._tag, "Wait")
    assert.strictEqual(crowd(60)._tag, "Refuse")
  })

  it("is refused when its turn comes while others are unheard, and it would be heard too late after them", () => {
    const slow = { firstMs: 100, heardEveryMs: 25, unheard: 3, young: 3 }
    const begins = (waitedMs: number, more: Partial<Load> = {}, isPromised = false) =>
      admit({ ...idle, ...slow, ...more }, { ...first, waitedMs, isPromised }, soon)._tag
    assert.strictEqual(begins(325), "Begin")
    assert.strictEqual(begins(326), "Wait")
    assert.strictEqual(begins(351), "Refuse")
    assert.strictEqual(begins(351, { unheard: 2 }), "Begin")
    assert.strictEqual(begins(499, { unheard: 0 }), "Begin")
    assert.strictEqual(begins(499, {}, true), "Begin")
  })

  it("counts as having waited for what this process is late, which read it as late", () => {
    const begins = (waitedMs: number, lateMs: number) =>
      admit({ ...idle, unheard: 3, heardEveryMs: 25, lateMs }, { ...first, waitedMs }, soon)._tag
    assert.strictEqual(begins(325, 0), "Begin")
    assert.strictEqual(begins(225, 100), "Begin")
    assert.strictEqual(begins(226, 100), "Wait")
  })

  it("waits with only a few unheard where the engine is so slow that the last of more would be heard too late", () => {
    const begins = (unheard: number) => admit({ ...idle, heardEveryMs: 100, unheard, young: unheard }, first, soon)._tag
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

describe("a listener", () => {
  it("is young until it has three seconds of audio in store", () => {
    const { book, one } = entered()
    one.wants(0)
    one.got(2, 100)
    one.wants(100)
    assert.strictEqual(book.load(group, 150).young, 1)
    one.got(1.5, 200)
    assert.strictEqual(book.load(group, 250).young, 0)
  })

  it("is unheard until its first audio", () => {
    const { book, one } = entered()
    assert.strictEqual(book.load(group, 50).unheard, 1)
    one.got(0.1, 60)
    assert.isTrue(one.isHeard())
    assert.deepInclude(book.load(group, 70), { unheard: 0, young: 1 })
    assert.deepInclude(book.counts(70), { unheard: 0, young: 1 })
  })

  it("is unheard while its audio is held back, has all of that in store, and is heard with the end of a short one", () => {
    const { book, one } = entered()
    one.wants(0)
    one.got(0.1, 200)
    one.wants(200)
    assert.isFalse(one.isHeard())
    assert.deepInclude(book.load(group, 400), { unheard: 1, lean: 0 })
    assert.strictEqual(one.storeMs(400), 100)
    assert.isFalse(one.mayBegin(400))
    assert.isTrue(one.mayBegin(400, true))
    assert.isTrue(one.isHeard())
    assert.strictEqual(one.storeMs(450), 50)
    assert.strictEqual(book.load(group, 450).unheard, 0)
  })

  it("is grown as soon as it takes no more, however little it has", () => {
    const { book, one } = entered()
    one.wants(0)
    one.got(0.5, 100)
    assert.strictEqual(book.load(group, 150).young, 1)
    assert.strictEqual(book.load(group, 250).young, 0)
  })

  it("is thin when it waits and has less than two seconds left, and recovers with more", () => {
    const { book, one } = entered()
    one.got(3, 0)
    one.wants(500)
    assert.strictEqual(book.load(group, 900).thin, 0)
    assert.strictEqual(book.load(group, 1_100).thin, 1)
    assert.isTrue(book.isAnyInNeed(1_100))
    one.got(2, 1_200)
    one.wants(1_200)
    assert.strictEqual(book.load(group, 1_400).thin, 0)
  })

  it("is lean when it is heard, waits for its next sound and has hardly any left, until it has a store", () => {
    const { book, one } = entered()
    one.wants(0)
    assert.strictEqual(book.load(group, 400).lean, 0)
    one.got(0.4, 400)
    one.wants(400)
    assert.strictEqual(book.load(group, 450).lean, 0)
    assert.strictEqual(book.load(group, 500).lean, 1)
    assert.isTrue(book.isAnyInNeed(500))
    one.got(0.9, 550)
    one.wants(550)
    assert.strictEqual(book.load(group, 700).lean, 0)
    one.got(3, 710)
    assert.strictEqual(book.load(group, 900).lean, 0)
  })

  it("that takes nothing, or rests, is never thin, at any time", () => {
    const { book, one } = entered()
    one.got(3, 0)
    assert.strictEqual(book.load(group, 60_000).thin, 0)
    one.wants(60_000)
    one.rests(60_000)
    assert.strictEqual(book.load(group, 61_000).thin, 0)
  })

  it("that waits for the whole answer is never thin", () => {
    const { book, one } = entered(false)
    one.got(3, 0)
    one.wants(10)
    assert.strictEqual(book.load(group, 20_000).thin, 0)
  })

  it("that stalled goes on from its next audio", () => {
    const { one } = entered()
    one.got(1, 0)
    one.got(2, 5_000)
    assert.strictEqual(one.storeMs(5_000), 2_000)
  })

  it("may begin with its first sound while first sounds come at once, and not before", () => {
    const { one } = entered()
    assert.isFalse(one.mayBegin(60))
    one.got(0.05, 60)
    assert.isTrue(one.mayBegin(60))
  })

  it("may begin with four times what a first sound takes beyond that of an idle fleet, its own or those of late", () => {
    const { book, one } = entered()
    one.got(0.19, 100)
    assert.isFalse(one.mayBegin(150))
    one.got(0.02, 150)
    assert.isTrue(one.mayBegin(150))
    const next = book.enter({ group, nowMs: 100, plays: true, soundMs: 20_000 })
    next.got(0.04, 160)
    assert.isFalse(next.mayBegin(160))
    next.got(0.02, 170)
    assert.isTrue(next.mayBegin(170))
  })

  it("may begin with 0.4 s, however long first sounds take", () => {
    const { one } = entered()
    one.got(0.39, 9_000)
    assert.isFalse(one.mayBegin(9_000))
    one.got(0.02, 9_000)
    assert.isTrue(one.mayBegin(9_000))
  })

  it("may always begin where it waits for the whole answer", () => assert.isTrue(entered(false).one.mayBegin(9_000)))

  it("of another engine does not count for this one", () => {
    const { book, one } = entered()
    one.got(3, 0)
    one.wants(0)
    assert.strictEqual(book.load(group, 2_500).thin, 1)
    assert.deepInclude(book.load("flite", 2_500), { thin: 0, young: 0, listening: 0 })
  })
})

describe("the duration of a beginning", () => {
  it("follows the sessions that have grown up", () => {
    const book = listeners()
    for (let at = 0; at < 4_000; at += 100) {
      const one = book.enter({ group, nowMs: at, plays: true, soundMs: 20_000 })
      one.got(4, at + 800)
      one.leave(at + 900)
    }
    assert.closeTo(book.load(group, 4_700).growMs, 750, 50)
  })

  it("is forgotten when none has begun for some seconds, because the crowd may be gone", () => {
    const { book, one } = entered()
    one.got(4, 20_000)
    one.leave(20_000)
    assert.isAbove(book.load(group, 20_000).growMs, 4_000)
    assert.isBelow(book.load(group, 40_000).growMs, 200)
  })

  it("is at least as long as the present beginnings have taken", () => {
    const { book, one } = entered()
    book.enter({ group, nowMs: 0, plays: true, soundMs: 20_000 })
    one.got(4, 100)
    assert.strictEqual(book.load(group, 5_000).growMs, 5_000)
  })

  it("is estimated longer while none of the present beginnings has finished", () => {
    const { book } = entered()
    assert.strictEqual(book.load(group, 5_000).growMs, 15_000)
  })
})

describe("the time between two stores", () => {
  it("follows those that get one after the other while several begin, also the short ones", () => {
    const book = listeners()
    for (let round = 0; round < 8; round++) {
      const startMs = round * 10_000
      const several = [1, 2, 3, 4].map(() => book.enter({ group, nowMs: startMs, plays: true, soundMs: 20_000 }))
      for (const one of several) {
        one.got(0.5, startMs + 50)
        one.wants(startMs + 50)
      }
      several.forEach((one, nth) => one.got(nth % 2 === 0 ? 4 : 1, startMs + (nth + 1) * 200))
      assert.isAtMost(book.load(group, startMs + 900).storeEveryMs, 900)
      several.forEach((one) => one.leave(startMs + 1_000))
    }
    assert.closeTo(book.load(group, 90_000).storeEveryMs, 200, 120)
  })

  it("is at least as long as no more comes after a first sound, and is not that of one that has left", () => {
    const { book, one } = entered()
    one.wants(0)
    assert.isBelow(book.load(group, 700).storeEveryMs, 100)
    one.got(0.5, 800)
    one.wants(800)
    assert.strictEqual(book.load(group, 1_500).storeEveryMs, 700)
    one.leave(1_600)
    assert.isBelow(book.load(group, 1_700).storeEveryMs, 100)
    const next = book.enter({ group, nowMs: 2_000, plays: true, soundMs: 20_000 })
    next.wants(2_000)
    assert.isBelow(book.load(group, 2_300).storeEveryMs, 100)
  })

  it("is by all sound that comes, where a crowd begins together and nobody has a store yet", () => {
    const book = listeners()
    const crowd = Array.from({ length: 32 }, () => book.enter({ group, nowMs: 0, plays: true, soundMs: 20_000 }))
    for (const one of crowd) one.wants(0)
    // A hundred seconds of sound in a second, for all of them together.
    for (let nowMs = 160; nowMs < 800; nowMs += 160) {
      for (const one of crowd) {
        one.got(0.5, nowMs)
        one.wants(nowMs)
      }
    }
    assert.strictEqual(book.load(group, 641).young, 32)
    // While it begins, what is made is first sounds: until then the pace before it counts.
    assert.strictEqual(book.load(group, 499).storeEveryMs, 10)
    assert.closeTo(book.load(group, 641).storeEveryMs, 25, 10)
  })
})

describe("the time between two that are heard", () => {
  it("is measured while several are unheard, and is no longer than that until one is heard that is alone", () => {
    const book = listeners()
    const enter = (nowMs: number) => book.enter({ group, nowMs, plays: true, soundMs: 20_000 })
    for (const nowMs of [0, 1_000, 2_000, 3_000]) enter(nowMs).got(0.5, nowMs + 300)
    assert.strictEqual(book.load(group, 4_000).heardEveryMs, 10)
    for (const one of [enter(4_000), enter(4_000)]) one.got(0.5, 4_900)
    assert.isAbove(book.load(group, 5_000).heardEveryMs, 300)
    enter(6_000).got(0.5, 6_030)
    assert.strictEqual(book.load(group, 7_000).heardEveryMs, 30)
    for (const startMs of [10_000, 20_000, 30_000]) {
      const crowd = Array.from({ length: 8 }, () => enter(startMs))
      crowd.forEach((one, nth) => one.got(0.5, startMs + 50 * (nth + 1)))
    }
    assert.closeTo(book.load(group, 40_000).heardEveryMs, 50, 8)
  })

  it("grows while nobody is heard", () => {
    const book = listeners()
    for (let nth = 0; nth < 3; nth++) book.enter({ group, nowMs: 0, plays: true, soundMs: 20_000 })
    assert.strictEqual(book.load(group, 400).heardEveryMs, 410)
  })
})

describe("the time between beginnings", () => {
  it("is that of the last ten seconds, and unknown without any", () => {
    const { book } = entered()
    for (const nowMs of [1_000, 2_000, 3_000]) book.enter({ group, nowMs, plays: true, soundMs: 20_000 })
    assert.strictEqual(book.load(group, 3_000).beganEveryMs, 2_500)
    assert.strictEqual(book.load(group, 12_500).beganEveryMs, 10_000)
    assert.strictEqual(book.load(group, 14_000).beganEveryMs, Number.POSITIVE_INFINITY)
  })
})

describe("what listeners need", () => {
  it("is what they have not got until they would fall silent, and no more than is left of their texts", () => {
    const { book, one } = entered()
    // Unheard, with twenty seconds to come: a second for each, at first.
    assert.closeTo(book.load(group, 0).needs, 1, 0.01)
    one.wants(0)
    one.got(12, 0)
    // Ten seconds more than it should always have; eight are to come, and take as many as that.
    assert.closeTo(book.load(group, 0).needs, 8 / 23, 0.1)
    one.got(7, 0)
    assert.isBelow(book.load(group, 0).needs, 0.12)
  })

  it("is nothing where one has played all and takes no more, or waits for the whole", () => {
    const { book, one } = entered()
    one.got(3, 0)
    assert.isAbove(book.load(group, 1_000).needs, 0)
    assert.strictEqual(book.load(group, 4_000).needs, 0)
    assert.strictEqual(entered(false).book.load(group, 0).needs, 0)
  })
})

describe("what is made in a second", () => {
  it("counts while anybody waits, is unknown at first, and not changed by one that has left", () => {
    const { book, one } = entered()
    for (let nowMs = 0; nowMs < 4_000; nowMs += 100) {
      one.wants(nowMs)
      one.got(0.25, nowMs + 50)
      if (nowMs < 900) assert.strictEqual(book.load(group, nowMs + 50).makes, Number.POSITIVE_INFINITY)
    }
    assert.closeTo(book.load(group, 4_000).makes, 5, 0.2)
    one.leave(4_000)
    one.wants(4_000)
    assert.closeTo(book.load(group, 5_000).makes, 5, 0.2)
    assert.strictEqual(book.load(group, 60_000).makes, Number.POSITIVE_INFINITY)
  })
})

describe("how long a text takes to be heard", () => {
  it("is by its length and the voice's rate, all turns together", () => {
    const turn = (input: string, ratePercent: number) =>
      ({ input, voice: { ratePercent } }) as Parameters<typeof soundMsOf>[0][number]
    assert.strictEqual(soundMsOf([turn("x".repeat(100), 100)]), 6_500)
    assert.strictEqual(soundMsOf([turn("x".repeat(100), 200), turn("x".repeat(10), 50)]), 3_250 + 1_300)
  })
})

describe("the duration of a first sound", () => {
  it("follows the listeners that were heard", () => {
    const book = listeners()
    for (let at = 0; at < 4_000; at += 100) {
      const one = book.enter({ group, nowMs: at, plays: true, soundMs: 20_000 })
      one.got(0.1, at + 200)
      one.got(0.4, at + 300)
      one.leave(at + 400)
    }
    assert.closeTo(book.load(group, 4_200).firstMs, 280, 20)
  })

  it("is at least as long as those who are not heard have waited", () => {
    const { book, one } = entered()
    book.enter({ group, nowMs: 0, plays: true, soundMs: 20_000 })
    assert.strictEqual(book.load(group, 400).firstMs, 400)
    one.got(0.5, 400)
    assert.strictEqual(book.load(group, 600).firstMs, 600)
  })

  it("of an engine alone is that of the fastest, and grows slowly with later ones that are alone and slower", () => {
    const book = listeners()
    const heardAfter = (tookMs: number, nowMs: number, others = 0) => {
      const crowd = Array.from({ length: 1 + others }, () => book.enter({ group, nowMs, plays: true, soundMs: 20_000 }))
      for (const one of crowd.toReversed()) {
        one.got(0.5, nowMs + tookMs)
        one.leave(nowMs + tookMs)
      }
      return Math.round(book.load(group, nowMs + tookMs).aloneMs)
    }
    assert.strictEqual(book.load(group, 0).aloneMs, 0)
    assert.strictEqual(heardAfter(400, 0), 400)
    assert.strictEqual(heardAfter(40, 1_000), 40)
    assert.strictEqual(heardAfter(200, 2_000), 50)
    // Of these twenty one came to an engine that had nothing else to do.
    assert.strictEqual(heardAfter(530, 3_000, 19), 80)
  })
})
