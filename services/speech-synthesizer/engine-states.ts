/**
 * Tells which engines of this process can speak: the speech APIs by a record in the bucket `speech-engines`, at once
 * when that changes and every few seconds; operators by a gauge and in `/readyz`.
 */
import { Effect, Stream, SubscriptionRef } from "effect"
import { Kv, Mailbox } from "#bus"
import { type EngineState, SynthesizerEngines } from "#contracts"
import { Health, Metrics, supervise } from "#runtime"
import type { SpeechEngine } from "#speech"
import { engineUsable } from "./metrics.ts"

const renewEveryMs = 5_000
/** Two turns may be missed. */
const keptMs = 15_000

type FallibleEngine = SpeechEngine & Required<Pick<SpeechEngine, "state">>
const isFallible = (engine: SpeechEngine): engine is FallibleEngine => engine.state !== undefined

export const engineStatesTold = Effect.fnUntraced(function* (all: ReadonlyArray<SpeechEngine>) {
  const engines = all.filter(isFallible)
  if (engines.length === 0) return
  const usable = (yield* Metrics).gauge(engineUsable)
  const health = yield* Health
  for (const { name, state } of engines) {
    yield* health.remark(name, Effect.map(SubscriptionRef.get(state), remarkOf))
    yield* Effect.forkScoped(
      Stream.runForEach(SubscriptionRef.changes(state), (now) =>
        Effect.sync(() => usable.set({ engine: name }, now.state === "failed" ? 0 : 1))
      )
    )
  }
  const changed = Stream.mergeAll(
    engines.map(({ state }) => SubscriptionRef.changes(state)),
    { concurrency: "unbounded" }
  )
  const turns = Stream.merge(changed, Stream.tick(renewEveryMs))
  const telling = Stream.runForEach(turns, () =>
    Effect.catch(tell(engines), (error) => Effect.logDebug("the engines' states could not be told", error))
  )
  yield* Effect.forkScoped(supervise("engines told", Effect.andThen(telling, Effect.fail("no more turns"))))
})

const remarkOf = ({ state, detail }: EngineState) => (state === "failed" ? `cannot speak: ${detail ?? ""}` : undefined)

const tell = Effect.fnUntraced(function* (engines: ReadonlyArray<FallibleEngine>) {
  const { instance } = yield* Mailbox
  const bucket = yield* (yield* Kv).open("speech-engines", SynthesizerEngines)
  const states = yield* Effect.forEach(engines, ({ name, state }) =>
    Effect.map(SubscriptionRef.get(state), (now) => [name, now] as const)
  )
  const told: SynthesizerEngines = { engines: Object.fromEntries(states) }
  const before = yield* bucket.get(instance)
  yield* before._tag === "Some"
    ? bucket.update(instance, told, before.value.revision, keptMs)
    : bucket.create(instance, told, keptMs)
})
