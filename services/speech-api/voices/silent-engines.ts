/**
 * Follows what the synthesizers tell of their engines, so that no caller is offered a voice that none of them can make.
 * An engine is silent when all that tell of it say that it failed. Nothing is silent as long as nobody tells.
 */
import { Effect, Layer, Option, Stream } from "effect"
import { Kv } from "#bus"
import { SynthesizerEngines } from "#contracts"
import { supervise } from "#runtime"
import { SilentEngines } from "#speech"

/** Needs the bus. */
export const silentEngines = Layer.effect(
  SilentEngines,
  Effect.gen(function* () {
    const kv = yield* Kv
    let silent: ReadonlySet<string> = new Set()
    const follow = Effect.gen(function* () {
      const told = new Map<string, SynthesizerEngines>()
      const bucket = yield* kv.open("speech-engines", SynthesizerEngines)
      yield* Stream.runForEach(bucket.changes, ({ key, entry }) =>
        Effect.gen(function* () {
          if (Option.isSome(entry)) told.set(key, entry.value.value)
          else told.delete(key)
          const now = silentAmong([...told.values()])
          for (const engine of now)
            if (!silent.has(engine)) yield* Effect.logWarning(`no synthesizer can speak with ${engine}`)
          for (const engine of silent) if (!now.has(engine)) yield* Effect.logInfo(`${engine} can speak again`)
          silent = now
        })
      )
      return yield* Effect.fail("the bucket is not followed any more")
    })
    yield* Effect.forkScoped(supervise("engines of synthesizers", follow))
    return () => silent
  })
)

/** Pure. */
export const silentAmong = (told: ReadonlyArray<SynthesizerEngines>): ReadonlySet<string> => {
  const states = told.flatMap(({ engines }) => Object.entries(engines))
  const usable = new Set(states.flatMap(([engine, { state }]) => (state === "failed" ? [] : [engine])))
  return new Set(states.flatMap(([engine]) => (usable.has(engine) ? [] : [engine])))
}
