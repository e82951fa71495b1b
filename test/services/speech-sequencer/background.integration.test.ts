/** Sessions in the background beside sessions with listeners, on real engines. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Metrics } from "#runtime"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { startRoleProcess } from "../../support/role-process.ts"
import { sumOf } from "../../support/speech.ts"
import { chapter, hasHeart, isSame, sessions, speak, speechRoles, turnsOf } from "./background-speech.ts"

const answer = "Yes, of course, the boat leaves at seven."

const onFleet = <A, E>(test: Effect.Effect<A, E, Effect.Services<ReturnType<typeof speak>> | Metrics>) =>
  withBus(() => Effect.provide(test, speechRoles))

const counted = Effect.fnUntraced(function* (name: string, label: string) {
  return sumOf(yield* (yield* Metrics).text, name, [label])
})
const interruptions = counted("speech_engine_jobs_total", 'outcome="cancelled"')
const secondRequests = counted("speech_chunks_asked_total", 'reason="again"')

const median = (all: ReadonlyArray<number>) => all.toSorted((one, other) => one - other)[all.length >> 1] ?? 0

describe("a session in the background", () => {
  it.live("has the sound and the marks that a listener gets", () =>
    onFleet(
      Effect.gen(function* () {
        const expected = yield* speak(turnsOf("espeak", chapter))
        assert.isTrue(isSame(yield* speak(turnsOf("espeak", chapter), true), expected))
      })
    )
  )

  it.live("has them when its synthesizer is killed", () =>
    withBus((server) =>
      Effect.gen(function* () {
        const book = turnsOf("espeak", Array.from({ length: 30 }, () => chapter).flat())
        const synthesizer = startRoleProcess(server, "speech-synthesizer")
        const first = yield* synthesizer
        const expected = yield* speak(book)
        const spoken = yield* Effect.forkChild(speak(book, true), { startImmediately: true })
        yield* Effect.sleep(500)
        assert.isUndefined(spoken.pollUnsafe())
        yield* first.kill("SIGKILL")
        yield* synthesizer
        assert.isTrue(isSame(yield* Fiber.join(spoken), expected))
      }).pipe(Effect.scoped, Effect.provide(sessions))
    )
  )
})

describe.skipIf(!hasHeart)("a session in the background, of a voice that takes its time", () => {
  const turns = turnsOf("heart", chapter)

  it.live("has the sound and the marks that a listener gets, however often listeners interrupt it", () =>
    onFleet(
      Effect.gen(function* () {
        const expected = yield* speak(turns)
        const spoken = yield* Effect.forkChild(speak(turns, true), { startImmediately: true })
        for (let answers = 0; spoken.pollUnsafe() === undefined; answers++) {
          yield* speak(turnsOf("heart", [answer]))
          // Longer and longer gaps, so that it comes to its end on any machine.
          yield* Effect.sleep(answers * 50)
        }
        assert.isTrue(isSame(yield* Fiber.join(spoken), expected))
        assert.isAtLeast(yield* interruptions, 3)
      })
    )
  )

  it.live("waits while listeners leave no gap, and does not fail of it", () =>
    onFleet(
      Effect.gen(function* () {
        const expected = yield* speak(turns)
        const listener = Effect.forever(speak(turns))
        const crowd = yield* Effect.forkChild(Effect.replicateEffect(listener, 4, { concurrency: "unbounded" }))
        yield* Effect.sleep(500)
        const spoken = yield* Effect.forkChild(speak(turns, true), { startImmediately: true })
        // Longer than a sequencer waits for a chunk that gives no sign of life.
        yield* Effect.sleep(6_000)
        assert.isUndefined(spoken.pollUnsafe())
        assert.strictEqual(yield* secondRequests, 0)
        yield* Fiber.interrupt(crowd)
        assert.isTrue(isSame(yield* Fiber.join(spoken), expected))
      })
    )
  )

  it.live("does not delay the first sound of a listener's answer", () =>
    onFleet(
      Effect.gen(function* () {
        const first = Effect.map(speak(turnsOf("heart", [answer])), ({ firstMs }) => firstMs)
        yield* first
        const [alone, beside]: [Array<number>, Array<number>] = [[], []]
        for (let round = 0; round < 10; round++) {
          alone.push(yield* first)
          const book = yield* Effect.forkChild(Effect.forever(speak(turns, true)), { startImmediately: true })
          yield* Effect.sleep(100 + round * 40)
          beside.push(yield* first)
          yield* Fiber.interrupt(book)
        }
        // A chunk of the book takes several times as long. Of a model's chunk, its first part is not interrupted.
        assert.isBelow(median(beside), 2.5 * median(alone))
      })
    )
  )
})
