import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { prioritySemaphore } from "../../../services/speech-synthesizer/priority-semaphore.ts"
import { dueAt } from "../../../services/speech-synthesizer/role.ts"

const first = Number.NEGATIVE_INFINITY

/** What follows from something has happened, also in the fibers that it wakes. */
const settled = Effect.andThen(TestClock.adjust(100), Effect.repeat(Effect.yieldNow, { times: 10 }))

/** Jobs that note their beginning and end on request. */
const bench = (permits: number | (() => number), threads = 1, nowMs = () => 0) => {
  const waits: Array<number> = []
  const line = prioritySemaphore({
    nowMs,
    threads,
    permits: typeof permits === "number" ? () => permits : permits,
    onWaiting: (count) => waits.push(count)
  })
  const begun: Array<string> = []
  const running = new Set<string>()
  const ends = new Map<string, Deferred.Deferred<void>>()
  const workOf = (name: string) => {
    const end = Deferred.makeUnsafe<void>()
    ends.set(name, end)
    const work = Effect.suspend(() => {
      begun.push(name)
      running.add(name)
      return Deferred.await(end)
    })
    return Effect.ensuring(
      work,
      Effect.sync(() => running.delete(name))
    )
  }
  const begin = (name: string, dueAtMs: number) =>
    Effect.forkChild(line.withPermit(dueAtMs, workOf(name)), { startImmediately: true })
  const behind = (name: string) => Effect.forkChild(line.inBackground(workOf(name)), { startImmediately: true })
  const end = (name: string, then = settled) =>
    Effect.andThen(Deferred.succeed(ends.get(name) ?? Deferred.makeUnsafe<void>(), undefined), then)
  return { begun, running, waits, begin, behind, end, isAnyDue: line.isAnyDue }
}

describe("the jobs of an engine", () => {
  it.effect("run up to the number of threads; the rest waits in order", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(2)
      for (const name of ["a", "b", "c", "d"]) yield* begin(name, 0)
      assert.deepStrictEqual(begun, ["a", "b"])
      yield* end("a")
      yield* end("b")
      assert.deepStrictEqual(begun, ["a", "b", "c", "d"])
    })
  )

  it.effect("tell whether one waits that is needed by now", () =>
    Effect.gen(function* () {
      const { begin, end, isAnyDue } = bench(1)
      yield* begin("a", 0)
      assert.isFalse(isAnyDue(2_000), "one that runs waits no more")
      yield* begin("in two seconds", 2_000)
      assert.deepStrictEqual([1_999, 2_000].map(isAnyDue), [false, true])
      yield* end("a")
      assert.isFalse(isAnyDue(2_000))
    })
  )

  it.effect("run first for listeners without sound, then by how soon a listener runs out", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(1)
      yield* begin("a", 0)
      yield* begin("in ten seconds", 10_000)
      yield* begin("in two seconds", 2_000)
      yield* begin("first chunk", first)
      yield* begin("as soon", 2_000)
      yield* begin("another", first)
      const inTurn = ["a", "first chunk", "another", "in two seconds", "as soon", "in ten seconds"]
      for (const name of inTurn.slice(0, -1)) yield* end(name)
      assert.deepStrictEqual(begun, inTurn)
    })
  )

  it.effect("free their thread on failure and interruption, and after giving up in the queue", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(1)
      const running = yield* begin("a", 0)
      const waiting = yield* begin("b", first)
      yield* begin("c", 0)
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(begun, ["a"])
      yield* Fiber.interrupt(running)
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, ["a", "c"])
      yield* end("c")
      yield* begin("d", 0)
      assert.deepStrictEqual(begun, ["a", "c", "d"])
    })
  )

  it.effect("are fewer at once as soon as fewer may be, and more when more may be", () =>
    Effect.gen(function* () {
      let permits = 2
      const { begun, begin, end } = bench(() => permits)
      for (const name of ["a", "b", "c", "d", "e"]) yield* begin(name, 0)
      permits = 1
      yield* end("a")
      assert.deepStrictEqual(begun, ["a", "b"])
      yield* end("b")
      assert.deepStrictEqual(begun, ["a", "b", "c"])
      permits = 2
      yield* end("c")
      assert.deepStrictEqual(begun, ["a", "b", "c", "d", "e"])
    })
  )
})

describe("a job in the background", () => {
  it.effect("begins at once if nothing else is there, and one at a time", () =>
    Effect.gen(function* () {
      const { begun, behind, end } = bench(2, 2)
      for (const name of ["a", "b"]) yield* behind(name)
      yield* settled
      assert.deepStrictEqual(begun, ["a"])
      yield* end("a")
      assert.deepStrictEqual(begun, ["a", "b"])
    })
  )
  it.effect("begins when the last of the others has ended, whichever asked first", () =>
    Effect.gen(function* () {
      const { begun, begin, behind, end, isAnyDue, waits } = bench(1)
      yield* begin("a", 0)
      yield* behind("behind")
      assert.isFalse(isAnyDue(Number.MAX_VALUE))
      assert.deepStrictEqual(waits, [], "it does not count as waiting")
      yield* begin("b", 10_000)
      yield* end("a")
      assert.deepStrictEqual(begun, ["a", "b"])
      yield* end("b")
      assert.deepStrictEqual(begun, ["a", "b", "behind"])
    })
  )
  it.effect("leaves the thread alone for a moment after another job, whose session may want its next", () =>
    Effect.gen(function* () {
      const { running, begin, behind, end } = bench(1)
      yield* begin("a", 0)
      yield* behind("behind")
      yield* end("a", Effect.void)
      yield* TestClock.adjust(49)
      assert.deepStrictEqual([...running], [])
      yield* begin("b", 0)
      yield* Effect.yieldNow
      assert.deepStrictEqual([...running], ["b"])
      yield* end("b", Effect.void)
      yield* TestClock.adjust(50)
      assert.deepStrictEqual([...running], ["behind"])
    })
  )
  it.effect.each([
    ["one permit", 1],
    ["a permit for the job behind it", 2]
  ] as const)(
    "gives its thread to a job that is due sooner than it would end, and begins again after it: %s",
    ([, permits]) =>
      Effect.gen(function* () {
        const { begun, running, begin, behind, end } = bench(permits)
        const done = yield* behind("behind")
        for (const name of ["a", "b", "c"]) {
          yield* begin(name, 400)
          yield* settled
          assert.deepStrictEqual([...running], [name])
          yield* end(name)
          assert.deepStrictEqual([...running], ["behind"])
        }
        yield* end("behind")
        yield* Fiber.join(done)
        assert.strictEqual(begun.filter((name) => name === "behind").length, 4)
      })
  )
  it.effect("keeps its thread from a job that can wait for twice as long as it takes, by the latest ones", () =>
    Effect.gen(function* () {
      let nowMs = 0
      const { running, begin, behind, end } = bench(1, 1, () => nowMs)
      yield* behind("slow")
      yield* settled
      nowMs = 1_250
      yield* end("slow")
      yield* behind("behind")
      yield* begin("in a second", nowMs + 1_100)
      yield* settled
      assert.deepStrictEqual([...running], ["behind"])
      yield* begin("sooner", nowMs + 900)
      yield* settled
      assert.deepStrictEqual([...running], ["sooner"])
    })
  )
  it.effect("keeps its thread while another one is free", () =>
    Effect.gen(function* () {
      const { running, begin, behind } = bench(4, 2)
      yield* behind("behind")
      yield* begin("a", 0)
      yield* settled
      assert.deepStrictEqual([...running], ["behind", "a"])
      yield* begin("b", 0)
      yield* settled
      assert.deepStrictEqual([...running], ["a", "b"])
    })
  )
  it.effect("frees its thread when it is interrupted, running or waiting", () =>
    Effect.gen(function* () {
      const { begun, behind } = bench(1)
      const running = yield* behind("running")
      const waiting = yield* behind("waiting")
      yield* behind("next")
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(running)
      yield* settled
      assert.deepStrictEqual(begun, ["running", "next"])
    })
  )

  const Step = Schema.Literals(["behind", "leave", "first", "later", "end", "end of the newest"])
  const Steps = Schema.Array(Step)
  it.effect.prop(
    "never has a thread that another job could use, and uses every one that they leave",
    [Steps, Schema.Literals([1, 2]), Schema.Literals([1, 2])],
    ([steps, threads, perThread]) =>
      Effect.gen(function* () {
        const permits = threads * perThread
        const { running, begin, behind, end } = bench(permits, threads)
        const waiting = new Set<string>()
        const fibers = new Map<string, Fiber.Fiber<void>>()
        const isBehind = (name: string) => name.startsWith("behind")
        const all = () => [...running]
        const others = () => all().filter((name) => !isBehind(name))
        for (const [at, step] of steps.entries()) {
          const name = `${step} ${at}`
          if (step === "behind") fibers.set(name, yield* behind(name))
          else if (step === "leave") yield* Effect.forEach([...fibers.values()].slice(0, 1), Fiber.interrupt)
          else if (step === "first" || step === "later") yield* begin(name, step === "first" ? -1 : 0)
          else yield* end((step === "end" ? all()[0] : all().at(-1)) ?? "")
          if (step === "first" || step === "later") waiting.add(name)
          yield* settled
          for (const one of running) waiting.delete(one)
          const inBackground = all().filter(isBehind)
          if (waiting.size > 0) assert.lengthOf(others(), permits)
          if (inBackground.length > 0) assert.isBelow(others().length, threads)
          assert.isAtMost(inBackground.length, 1)
          const left = [...fibers.values()].filter((fiber) => fiber.pollUnsafe() === undefined)
          if (left.length > 0 && others().length < threads) assert.lengthOf(inBackground, 1)
        }
        while (running.size > 0) yield* end(all()[0] ?? "")
        assert.isTrue(
          [...fibers.values()].every((fiber) => fiber.pollUnsafe() !== undefined),
          "all are spoken"
        )
      })
  )
})

describe("a chunk", () => {
  it("is due at once for who hears nothing yet, else half a second before its listener would fall silent", () => {
    assert.strictEqual(dueAt({ chunk: 0, neededInMs: 0 }, 1_000), 1_000)
    assert.strictEqual(dueAt({ chunk: 3, neededInMs: 4_000 }, 1_000), 4_500)
    // So that it comes before first chunks that are asked for later.
    assert.strictEqual(dueAt({ chunk: 1, neededInMs: 200 }, 1_000), 1_000)
  })
})
