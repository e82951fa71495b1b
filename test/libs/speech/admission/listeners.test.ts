import { assert, describe, it } from "@effect/vitest"
import { listeners, soundMsOf } from "#speech"

const engine = "espeak"

const entered = (plays = true) => {
  const book = listeners()
  return { book, one: book.enter({ engine, nowMs: 0, plays, soundMs: 20_000 }) }
}

describe("a listener", () => {
  it("buffers until it has three seconds of audio in store", () => {
    const { book, one } = entered()
    one.wants(0)
    one.got(2, 100)
    one.wants(100)
    assert.strictEqual(book.load(engine, 150).buffering, 1)
    one.got(1.5, 200)
    assert.strictEqual(book.load(engine, 250).buffering, 0)
  })

  it("awaits its first audio", () => {
    const { book, one } = entered()
    assert.strictEqual(book.load(engine, 50).awaiting, 1)
    one.got(0.1, 60)
    assert.isTrue(one.hasAudio())
    assert.deepInclude(book.load(engine, 70), { awaiting: 0, buffering: 1 })
    assert.strictEqual(book.buffering(70), 1)
  })

  it("awaits its first audio while that is held back, has all of that in store, and is heard with the end of a short one", () => {
    const { book, one } = entered()
    one.wants(0)
    one.got(0.1, 200)
    one.wants(200)
    assert.isFalse(one.hasAudio())
    assert.deepInclude(book.load(engine, 400), { awaiting: 1, starving: 0 })
    assert.strictEqual(one.bufferedMs(400), 100)
    assert.isFalse(one.mayBegin(400))
    assert.isTrue(one.mayBegin(400, true))
    assert.isTrue(one.hasAudio())
    assert.strictEqual(one.bufferedMs(450), 50)
    assert.strictEqual(book.load(engine, 450).awaiting, 0)
  })

  it("has a full buffer as soon as it takes no more, however little it has", () => {
    const { book, one } = entered()
    one.wants(0)
    one.got(0.5, 100)
    assert.strictEqual(book.load(engine, 150).buffering, 1)
    assert.strictEqual(book.load(engine, 250).buffering, 0)
  })

  it("has a low buffer when it waits with less than two seconds left, and recovers with more", () => {
    const { book, one } = entered()
    one.got(3, 0)
    one.wants(500)
    assert.strictEqual(book.load(engine, 900).low, 0)
    assert.strictEqual(book.load(engine, 1_100).low, 1)
    assert.isTrue(book.isAnyInNeed(1_100))
    one.got(2, 1_200)
    one.wants(1_200)
    assert.strictEqual(book.load(engine, 1_400).low, 0)
  })

  it("starves when it is heard, waits for more audio and has hardly any left, until it has had a full buffer", () => {
    const { book, one } = entered()
    one.wants(0)
    assert.strictEqual(book.load(engine, 400).starving, 0)
    one.got(0.4, 400)
    one.wants(400)
    assert.strictEqual(book.load(engine, 450).starving, 0)
    assert.strictEqual(book.load(engine, 500).starving, 1)
    assert.isTrue(book.isAnyInNeed(500))
    one.got(0.9, 550)
    one.wants(550)
    assert.strictEqual(book.load(engine, 700).starving, 0)
    one.got(3, 710)
    assert.strictEqual(book.load(engine, 900).starving, 0)
  })

  it("that takes nothing, or rests, never has a low buffer", () => {
    const { book, one } = entered()
    one.got(3, 0)
    assert.strictEqual(book.load(engine, 60_000).low, 0)
    one.wants(60_000)
    one.rests(60_000)
    assert.strictEqual(book.load(engine, 61_000).low, 0)
  })

  it("that waits for the whole answer never has a low buffer", () => {
    const { book, one } = entered(false)
    one.got(3, 0)
    one.wants(10)
    assert.strictEqual(book.load(engine, 20_000).low, 0)
  })

  it("that stalled resumes from its next audio", () => {
    const { one } = entered()
    one.got(1, 0)
    one.got(2, 5_000)
    assert.strictEqual(one.bufferedMs(5_000), 2_000)
  })

  it("may begin with its first audio while that comes at once, and not before", () => {
    const { one } = entered()
    assert.isFalse(one.mayBegin(60))
    one.got(0.05, 60)
    assert.isTrue(one.mayBegin(60))
  })

  it("may begin with four times what first audio takes beyond that of an idle fleet, its own or those of late", () => {
    const { book, one } = entered()
    one.got(0.19, 100)
    assert.isFalse(one.mayBegin(150))
    one.got(0.02, 150)
    assert.isTrue(one.mayBegin(150))
    const next = book.enter({ engine, nowMs: 100, plays: true, soundMs: 20_000 })
    next.got(0.04, 160)
    assert.isFalse(next.mayBegin(160))
    next.got(0.02, 170)
    assert.isTrue(next.mayBegin(170))
  })

  it("may begin with 0.4 s, however long first audio takes", () => {
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
    assert.strictEqual(book.load(engine, 2_500).low, 1)
    assert.deepInclude(book.load("flite", 2_500), { low: 0, buffering: 0 })
  })
})

describe("the time until a full buffer", () => {
  it("follows the sessions that have got a full buffer", () => {
    const book = listeners()
    for (let at = 0; at < 4_000; at += 100) {
      const one = book.enter({ engine, nowMs: at, plays: true, soundMs: 20_000 })
      one.got(4, at + 800)
      one.leave(at + 900)
    }
    assert.closeTo(book.load(engine, 4_700).fullMs, 750, 50)
  })

  it("is forgotten when none has begun for some seconds, because the crowd may be gone", () => {
    const { book, one } = entered()
    one.got(4, 20_000)
    one.leave(20_000)
    assert.isAbove(book.load(engine, 20_000).fullMs, 4_000)
    assert.isBelow(book.load(engine, 40_000).fullMs, 200)
  })

  it("is at least as long as the present beginnings have taken", () => {
    const { book, one } = entered()
    book.enter({ engine, nowMs: 0, plays: true, soundMs: 20_000 })
    one.got(4, 100)
    assert.strictEqual(book.load(engine, 5_000).fullMs, 5_000)
  })
})

describe("the time between two that are heard", () => {
  it("is measured while several await first audio, and is no longer than that until one is heard that is alone", () => {
    const book = listeners()
    const enter = (nowMs: number) => book.enter({ engine, nowMs, plays: true, soundMs: 20_000 })
    for (const nowMs of [0, 1_000, 2_000, 3_000]) enter(nowMs).got(0.5, nowMs + 300)
    assert.strictEqual(book.load(engine, 4_000).firstEveryMs, 10)
    for (const one of [enter(4_000), enter(4_000)]) one.got(0.5, 4_900)
    assert.isAbove(book.load(engine, 5_000).firstEveryMs, 300)
    enter(6_000).got(0.5, 6_030)
    assert.strictEqual(book.load(engine, 7_000).firstEveryMs, 30)
    for (const startMs of [10_000, 20_000, 30_000]) {
      const crowd = Array.from({ length: 8 }, () => enter(startMs))
      crowd.forEach((one, nth) => one.got(0.5, startMs + 50 * (nth + 1)))
    }
    assert.closeTo(book.load(engine, 40_000).firstEveryMs, 50, 8)
  })

  it("grows while nobody is heard", () => {
    const book = listeners()
    for (let nth = 0; nth < 3; nth++) book.enter({ engine, nowMs: 0, plays: true, soundMs: 20_000 })
    assert.strictEqual(book.load(engine, 400).firstEveryMs, 400)
  })
})

describe("the time between beginnings", () => {
  it("is that of the last ten seconds, and unknown without any", () => {
    const { book } = entered()
    for (const nowMs of [1_000, 2_000, 3_000]) book.enter({ engine, nowMs, plays: true, soundMs: 20_000 })
    assert.strictEqual(book.load(engine, 3_000).beganEveryMs, 2_500)
    assert.strictEqual(book.load(engine, 12_500).beganEveryMs, 10_000)
    assert.strictEqual(book.load(engine, 14_000).beganEveryMs, Number.POSITIVE_INFINITY)
  })
})

describe("what listeners need", () => {
  it("is what they have not got until they would fall silent, and no more than is left of their texts", () => {
    const { book, one } = entered()
    // Unheard, with twenty seconds to come: a second for each, at first.
    assert.closeTo(book.load(engine, 0).needs, 1, 0.01)
    one.wants(0)
    one.got(12, 0)
    // Ten seconds more than it should always have; eight are to come, and take as many as that.
    assert.closeTo(book.load(engine, 0).needs, 8 / 23, 0.1)
    one.got(7, 0)
    assert.isBelow(book.load(engine, 0).needs, 0.12)
  })

  it("is nothing where one has played all and takes no more, or waits for the whole", () => {
    const { book, one } = entered()
    one.got(3, 0)
    assert.isAbove(book.load(engine, 1_000).needs, 0)
    assert.strictEqual(book.load(engine, 4_000).needs, 0)
    assert.strictEqual(entered(false).book.load(engine, 0).needs, 0)
  })
})

describe("what an engine makes in a second", () => {
  /** Ten listeners that always wait get so many seconds of audio in a second together, for four seconds. */
  const made = (secondsInOne: number) => {
    const book = listeners()
    const ten = Array.from({ length: 10 }, () => book.enter({ engine, nowMs: 0, plays: true, soundMs: 60_000 }))
    for (const one of ten) one.wants(0)
    for (let nowMs = 100; nowMs <= 4_000; nowMs += 100) {
      for (const one of ten) {
        one.got(secondsInOne / 100, nowMs)
        one.wants(nowMs)
      }
    }
    return { book, ten }
  }

  it("is measured while any of them waits, and is all that can be made once they get no more than they play", () => {
    for (const seconds of [5, 10, 12]) {
      const { isSaturated, makes } = made(seconds).book.load(engine, 4_000)
      assert.closeTo(makes, seconds, 0.5)
      assert.strictEqual(isSaturated, seconds < 11)
    }
  })

  it("has no known limit while all await first audio: how much comes after it is still to be seen", () => {
    const { book, one } = entered()
    one.wants(0)
    assert.strictEqual(book.load(engine, 5_000).makes, Number.POSITIVE_INFINITY)
  })

  it("has no known limit before a second of waits, nor when nobody has waited for long", () => {
    const { book, one } = entered()
    one.got(0.05, 0)
    one.wants(0)
    assert.strictEqual(book.load(engine, 900).makes, Number.POSITIVE_INFINITY)
    assert.isBelow(book.load(engine, 2_000).makes, 0.05)
    const later = made(5)
    for (const one of later.ten) one.leave(4_000)
    later.ten[0]?.wants(4_000)
    assert.closeTo(later.book.load(engine, 4_200).makes, 5, 0.5)
    assert.strictEqual(later.book.load(engine, 60_000).makes, Number.POSITIVE_INFINITY)
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

describe("the time until first audio", () => {
  it("follows the listeners that got it", () => {
    const book = listeners()
    for (let at = 0; at < 4_000; at += 100) {
      const one = book.enter({ engine, nowMs: at, plays: true, soundMs: 20_000 })
      one.got(0.1, at + 200)
      one.got(0.4, at + 300)
      one.leave(at + 400)
    }
    assert.closeTo(book.load(engine, 4_200).firstMs, 185, 15)
  })

  it("is at least as long as those who await it have waited", () => {
    const { book, one } = entered()
    book.enter({ engine, nowMs: 0, plays: true, soundMs: 20_000 })
    assert.strictEqual(book.load(engine, 400).firstMs, 400)
    one.got(0.5, 400)
    assert.strictEqual(book.load(engine, 600).firstMs, 600)
  })

  it("of an engine alone is that of the fastest, and grows slowly with later ones that are alone and slower", () => {
    const book = listeners()
    const heardAfter = (tookMs: number, nowMs: number, others = 0) => {
      const crowd = Array.from({ length: 1 + others }, () =>
        book.enter({ engine, nowMs, plays: true, soundMs: 20_000 })
      )
      for (const one of crowd.toReversed()) {
        one.got(0.5, nowMs + tookMs)
        one.leave(nowMs + tookMs)
      }
      return Math.round(book.load(engine, nowMs + tookMs).aloneMs)
    }
    assert.strictEqual(book.load(engine, 0).aloneMs, 0)
    assert.strictEqual(heardAfter(400, 0), 400)
    assert.strictEqual(heardAfter(40, 1_000), 40)
    assert.strictEqual(heardAfter(200, 2_000), 50)
    // Of these twenty one came to an engine that had nothing else to do.
    assert.strictEqual(heardAfter(530, 3_000, 19), 80)
  })
})
