/** A crowd of callers, step by step: nobody who is heard falls silent, and who cannot be served is told when to come again. */
import { assert, describe, it } from "@effect/vitest"
import { type AdmissionLimits, admit, listeners } from "#speech"

const limits: AdmissionLimits = { awaitingMax: 8, decideWithinMs: 500, beginWithinMs: 2_500, waitingMax: 256 }
const engine = "espeak"

interface Crowd {
  /** Seconds of audio that the fleet makes in a second. */
  readonly capacity: number
  readonly callersPerSecond: number
  readonly heldSeconds: number
  /** How far a listener is served ahead; one that has all leaves. */
  readonly windowMs?: number
  readonly textSeconds?: number
}

const stepMs = 20
/**
 * Callers that play a text each in real time. In each step the fleet's capacity goes to whoever has least, as far
 * as a window; a caller that waits is decided about anew.
 */
const crowded = ({ capacity, callersPerSecond, heldSeconds, windowMs = 5_000, textSeconds = 20 }: Crowd) => {
  const book = listeners()
  const seen = {
    refused: 0,
    retryAfterLeast: Number.POSITIVE_INFINITY,
    underruns: 0,
    mostAtOnce: 0,
    begun: 0,
    latestMs: 0
  }
  let waiting: Array<{ readonly cameMs: number; isPromised: boolean }> = []
  let speaking: Array<{ readonly listener: ReturnType<typeof book.enter>; gotMs: number; startMs: number }> = []
  const came = (nowMs: number) => Math.floor((nowMs * callersPerSecond) / 1_000)
  for (let nowMs = 0; nowMs < heldSeconds * 1_000; nowMs += stepMs) {
    for (let more = came(nowMs + stepMs) - came(nowMs); more > 0; more--) {
      waiting.push({ cameMs: nowMs, isPromised: false })
    }
    let ahead = 0
    waiting = waiting.filter((caller) => {
      const load = { ...book.load(engine, nowMs), lateMs: 0 }
      const asker = { ahead, waitedMs: nowMs - caller.cameMs, isPromised: caller.isPromised, recentlyRefused: 0 }
      const verdict = admit(load, asker, limits)
      if (verdict._tag === "Begin") {
        const listener = book.enter({ engine, nowMs, plays: true, soundMs: textSeconds * 1_000 })
        listener.wants(nowMs)
        speaking.push({ listener, gotMs: 0, startMs: Number.NaN })
        seen.begun += 1
        seen.latestMs = Math.max(seen.latestMs, asker.waitedMs)
      } else if (verdict._tag === "Refuse") {
        seen.refused += 1
        seen.retryAfterLeast = Math.min(seen.retryAfterLeast, verdict.retryAfterSeconds)
      } else {
        caller.isPromised ||= verdict._tag === "Promise"
        ahead += 1
        return true
      }
      return false
    })
    let leftMs = capacity * stepMs
    const storeOf = (one: (typeof speaking)[number]) => (one.gotMs === 0 ? -1 : one.gotMs - (nowMs - one.startMs))
    for (const one of speaking.toSorted((left, right) => storeOf(left) - storeOf(right))) {
      const roomMs = Math.min(windowMs - Math.max(0, storeOf(one)), textSeconds * 1_000 - one.gotMs)
      const givenMs = Math.min(leftMs, roomMs, windowMs / 10)
      if (storeOf(one) < 0 && one.gotMs > 0 && one.gotMs < textSeconds * 1_000) seen.underruns += 1
      if (givenMs <= 0) continue
      leftMs -= givenMs
      if (one.gotMs === 0) one.startMs = nowMs
      one.gotMs += givenMs
      one.listener.got(givenMs / 1_000, nowMs)
      if (givenMs < roomMs) one.listener.wants(nowMs)
      else one.listener.rests(nowMs)
    }
    for (const one of speaking)
      if (storeOf(one) < windowMs - 100 && one.gotMs < textSeconds * 1_000) one.listener.wants(nowMs)
    speaking = speaking.filter((one) => {
      const isOver = one.gotMs >= textSeconds * 1_000 && nowMs - one.startMs >= textSeconds * 1_000
      if (one.gotMs >= textSeconds * 1_000) one.listener.leave(nowMs)
      return !isOver
    })
    seen.mostAtOnce = Math.max(seen.mostAtOnce, speaking.length)
  }
  return seen
}

describe("more callers than the fleet can speak for in real time", () => {
  it.each([
    { capacity: 20, callersPerSecond: 2, textSeconds: 20 },
    { capacity: 100, callersPerSecond: 6, textSeconds: 20 },
    { capacity: 250, callersPerSecond: 20, textSeconds: 20 },
    { capacity: 100, callersPerSecond: 40, textSeconds: 20 },
    // Until others lack sound nobody is held up: a whole answer fits between the fleet and its listener.
    { capacity: 155, callersPerSecond: 13, windowMs: 20_000, textSeconds: 20 },
    { capacity: 155, callersPerSecond: 18, windowMs: 20_000, textSeconds: 20 },
    // Stores that last for a while are no help to texts that last for minutes.
    { capacity: 155, callersPerSecond: 2.5, windowMs: 20_000, textSeconds: 120 },
    { capacity: 155, callersPerSecond: 12, windowMs: 20_000, textSeconds: 120 },
    { capacity: 155, callersPerSecond: 12, windowMs: 20_000, textSeconds: 600 },
    { capacity: 12, callersPerSecond: 1, windowMs: 20_000, textSeconds: 120 }
  ])(
    "are refused with a time to come again or begin in time, and no listener falls silent: $callersPerSecond/s at $capacity s/s, $textSeconds s each",
    ({ capacity, callersPerSecond, textSeconds, windowMs }) => {
      const seen = crowded({
        capacity,
        callersPerSecond,
        heldSeconds: Math.max(60, Math.min(240, 2 * textSeconds)),
        textSeconds,
        ...(windowMs === undefined ? {} : { windowMs })
      })
      assert.strictEqual(seen.underruns, 0)
      assert.isAbove(seen.refused, 0)
      assert.isAtLeast(seen.retryAfterLeast, 1)
      assert.isAbove(seen.mostAtOnce, 0.9 * capacity)
      assert.isAtMost(seen.latestMs, limits.beginWithinMs)
    }
  )

  it("are all served while it can", () => {
    const seen = crowded({ capacity: 250, callersPerSecond: 11, heldSeconds: 60 })
    assert.deepStrictEqual([seen.underruns, seen.refused], [0, 0])
    assert.isAbove(seen.begun, 650)
  })
})

interface Rush {
  readonly callers: number
  /** Seconds of audio that the fleet makes in a second. */
  readonly capacity: number
  /** Whether they play what they get in real time, or read it as fast as it comes. */
  readonly plays: boolean
}

// What it costs until one is heard is as much as three seconds of sound do; it brings half a second.
const firstCostMs = 3_000
const firstSoundMs = 500
// Whoever would fall silent without it gets its next sound before first ones.
const dueStoreMs = 450
const rushStepMs = 5
const soon: AdmissionLimits = { ...limits, decideWithinMs: 500, beginWithinMs: 500 }

/**
 * Callers that all come at once. Who is unheard comes before all that have sound in store, the earliest of them before the
 * others, and what is left goes to whoever has least. A caller is decided about when one is heard, as in a fleet, and every 20 ms.
 */
const rushed = ({ callers, capacity, plays }: Rush) => {
  const book = listeners()
  const cameMs = 10_000
  // A few before them showed how fast the fleet is.
  const before = [1, 2, 3, 4].map(() => book.enter({ engine, nowMs: 0, plays: true, soundMs: 3_000 }))
  before.forEach((one, nth) => one.got(firstSoundMs / 1_000, ((nth + 1) * firstCostMs) / capacity))
  for (const one of before) one.leave(1_000)
  const textMs = 24_000
  let waiting = callers
  let speaking: Array<{
    readonly listener: ReturnType<typeof book.enter>
    leftMs: number
    gotMs: number
    startMs: number
  }> = []
  const heardMs: Array<number> = []
  const refusedMs: Array<number> = []
  let underruns = 0
  const decide = (nowMs: number) => {
    const present = waiting
    let ahead = 0
    for (let nth = 0; nth < present; nth++) {
      const verdict = admit(
        { ...book.load(engine, nowMs), lateMs: 0 },
        { ahead, waitedMs: nowMs - cameMs, isPromised: false, recentlyRefused: 0 },
        soon
      )
      if (verdict._tag === "Wait") ahead += 1
      else waiting -= 1
      if (verdict._tag === "Refuse") refusedMs.push(nowMs - cameMs)
      if (verdict._tag !== "Begin") continue
      const listener = book.enter({ engine, nowMs, plays: true, soundMs: textMs })
      listener.wants(nowMs)
      speaking.push({ listener, leftMs: firstCostMs, gotMs: 0, startMs: Number.NaN })
    }
  }
  for (let nowMs = cameMs; nowMs < cameMs + 15_000; nowMs += rushStepMs) {
    let budgetMs = capacity * rushStepMs
    if ((nowMs - cameMs) % 20 === 0) decide(nowMs)
    const storeOf = (one: (typeof speaking)[number]) => one.gotMs - (nowMs - one.startMs)
    const give = (one: (typeof speaking)[number], mostMs: number) => {
      const givenMs = Math.min(budgetMs, mostMs, textMs - one.gotMs)
      if (givenMs <= 0) return
      budgetMs -= givenMs
      one.gotMs += givenMs
      one.listener.got(givenMs / 1_000, nowMs)
      if (one.gotMs < textMs) one.listener.wants(nowMs)
      else one.listener.leave(nowMs)
    }
    const heardOnes = () => speaking.filter(({ leftMs }) => leftMs === 0)
    for (const one of heardOnes()) {
      if (storeOf(one) < 0 && one.gotMs < textMs) underruns += 1
      if (storeOf(one) < dueStoreMs) give(one, 100)
    }
    for (const one of speaking.filter(({ leftMs }) => leftMs > 0)) {
      const givenMs = Math.min(budgetMs, one.leftMs)
      budgetMs -= givenMs
      one.leftMs -= givenMs
      if (one.leftMs > 0) continue
      one.gotMs = firstSoundMs
      one.startMs = nowMs
      heardMs.push(nowMs - cameMs)
      one.listener.got(firstSoundMs / 1_000, nowMs)
      one.listener.wants(nowMs)
      decide(nowMs)
    }
    for (const one of heardOnes().toSorted((left, right) => storeOf(left) - storeOf(right))) {
      give(one, plays ? Math.min(500, 10_000 - storeOf(one)) : 500)
    }
    speaking = speaking.filter(({ gotMs }) => gotMs < textMs)
  }
  return { heardMs, refusedMs, underruns }
}

/** As many as can be heard within half a second. */
const roomOf = (capacity: number) => Math.floor((500 * capacity) / firstCostMs)

describe("callers that all come at once", () => {
  const speeds = [30, 60, 120, 240, 480]
  const sizes = [4, 8, 16, 32, 64, 250]
  const rushes = speeds.flatMap((capacity) =>
    sizes.flatMap((callers) => [true, false].map((plays) => ({ capacity, callers, plays })))
  )

  it.each(rushes)(
    "are heard within half a second or refused, and nobody falls silent: $callers at $capacity s/s, playing: $plays",
    (rush) => {
      const { heardMs, refusedMs, underruns } = rushed(rush)
      assert.strictEqual(heardMs.length + refusedMs.length, rush.callers)
      assert.isAtMost(Math.max(...heardMs), 500)
      assert.isAtMost(Math.max(0, ...refusedMs), 500)
      assert.strictEqual(underruns, 0)
      // Of those for whom there is room, most are taken, and all where there is half as much again.
      const room = roomOf(rush.capacity)
      assert.isAtLeast(heardMs.length, Math.min(rush.callers, Math.floor(0.5 * room)))
      if (rush.callers * 1.5 < room) assert.strictEqual(refusedMs.length, 0)
    }
  )
})
