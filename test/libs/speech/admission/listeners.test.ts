import { assert, describe, it } from "@effect/vitest"
import { listeners } from "#speech"

const group = "espeak"

const entered = (plays = true) => {
  const book = listeners()
  return { book, one: book.enter({ group, nowMs: 0, plays }) }
}

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

  it("that takes nothing, or rests, is never thin, at any time", () => {
    const { book, one } = entered()
    one.got(3, 0)
    assert.strictEqual(book.load(group, 60_000).thin, 0)
    one.wants(60_000)
    one.rests()
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
      const one = book.enter({ group, nowMs: at, plays: true })
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
    book.enter({ group, nowMs: 0, plays: true })
    one.got(4, 100)
    assert.strictEqual(book.load(group, 5_000).growMs, 5_000)
  })

  it("is estimated longer while none of the present beginnings has finished", () => {
    const { book } = entered()
    assert.strictEqual(book.load(group, 5_000).growMs, 15_000)
  })
})
