/**
 * The check of an engine: it speaks a word, past the queue of its jobs. Work for listeners proves the same, and an
 * engine that has none spends a hundredth of its time on this.
 */
import { Effect, Stream, SubscriptionRef } from "effect"
import { Configuration } from "#configuration"
import { check } from "#runtime"
import { fleetCatalogue, isAudible, type SpeechEngine, spokenWord, voiceOfEngine } from "#speech"

// Less than a check has: a voice slower than real time can be in the middle of a sentence for so long.
const busyFor = "9 seconds"
const pauseMsMin = 10_000
const restPerWork = 99

export const checkEngine = Effect.fnUntraced(function* (engine: SpeechEngine) {
  const { Voices } = yield* Configuration
  const voice = voiceOfEngine(yield* fleetCatalogue(Voices), engine.name)
  const spoken =
    voice === undefined
      ? Effect.succeed(true)
      : Stream.runFold(
          engine.synthesize({ voice: voice.engine, pieces: [spokenWord] }),
          () => false,
          (isHeard, { pcm }) => isHeard || isAudible(pcm)
        )
  const heard = Effect.mapError(spoken, ({ message }) => `cannot speak: ${message}`)
  const heardUnlessBusy = Effect.timeoutOrElse(heard, { duration: busyFor, orElse: () => Effect.fail(undefined) })
  const run = Effect.gen(function* () {
    const now = engine.state === undefined ? undefined : yield* SubscriptionRef.get(engine.state)
    if (now?.state === "failed") return yield* Effect.fail(`cannot speak: ${now.detail ?? ""}`)
    if (now?.state === "opening") return
    const isHeard = yield* voice?.isRealTime === false ? heardUnlessBusy : heard
    if (!isHeard) return yield* Effect.fail("it spoke a word without a sound")
  })
  const pauseMs = (tookMs: number) => Math.max(pauseMsMin, restPerWork * tookMs)
  return yield* check({ name: "speech", subject: engine.name, run, pauseMs })
})
