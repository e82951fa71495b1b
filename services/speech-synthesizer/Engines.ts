/**
 * The engines of this process. An embedded engine that the host lacks is logged and left out; without any the role
 * cannot run. A configured model must be usable; an unusable one stops the start. A configured program that cannot
 * speak is logged, and tried again. Which engines can speak is published to the speech APIs in a record of the bucket
 * `speech-engines`, at once on a change and every few seconds; to operators by a gauge.
 */
import { resolve } from "node:path"
import { Cache, Cause, Context, Deferred, Effect, Exit, Layer, Stream, SubscriptionRef } from "effect"
import { Kv, Mailbox, Objects, records, replaced } from "#bus"
import { embeddedEngines, type EngineState, SynthesizerEngines } from "#speech/contract"
import { Configuration } from "#configuration"
import { Environment, Metrics, supervise } from "#runtime"
import {
  embedded,
  EngineMissing,
  fleetModels,
  modelEngine,
  openModelPool,
  openProcessPool,
  openZeroShotPool,
  type SpeechEngine
} from "#speech"
import { engineUsable } from "./metrics.ts"

// A minute of 16,000 samples a second. A longer recording was stored by mistake.
const bytesMax = 60 * 16_000 * 2
// Some 30 MB at most; half of that for 30-second recordings.
const keptMax = 16
// A deleted voice is not spoken again; its recording leaves the cache within this time.
const keptFor = "10 minutes"
const store = "voice-samples"

/**
 * The recordings that zero-shot voices refer to, read from the object store and cached for a while, because each chunk
 * of a voice needs its recording. The engine's thread shares their memory, without a copy.
 */
export class References extends Context.Service<
  References,
  /** Samples at 16,000 Hz; fails with the reason if there are none. */
  { readonly samples: (object: string) => Effect.Effect<Int16Array, string> }
>()("starling/speech-synthesizer/References") {
  static readonly layer = Layer.effect(
    References,
    Effect.gen(function* () {
      const objects = yield* Objects
      const read = Effect.fn("References.read")(function* (object: string) {
        const parts = yield* objects.get(store, object).pipe(
          Stream.mapAccum(
            () => 0,
            (bytes, part: Uint8Array) => [bytes + part.length, [{ part, bytes: bytes + part.length }]]
          ),
          Stream.takeUntil(({ bytes }) => bytes > bytesMax),
          Stream.runCollect,
          Effect.mapError((error) => `its recording cannot be read: ${error.message}`)
        )
        const length = parts.at(-1)?.bytes ?? 0
        if (length > bytesMax) return yield* Effect.fail(`its recording is longer than ${bytesMax} bytes`)
        if (length < 2) return yield* Effect.fail("its recording is empty")
        return sharedSamples(parts.map(({ part }) => part))
      })
      const kept = yield* Cache.make({ lookup: read, capacity: keptMax, timeToLive: keptFor })
      const samples = (object: string) =>
        // A failure is not cached: the store can be back in a moment.
        Effect.onError(Cache.get(kept, object), () => Cache.invalidate(kept, object))
      return References.of({ samples })
    })
  )
}

/** An incomplete sample at the end is dropped. */
const sharedSamples = (parts: ReadonlyArray<Uint8Array>): Int16Array => {
  const bytes = Buffer.concat(parts)
  const samples = new Int16Array(new SharedArrayBuffer(bytes.length - (bytes.length % 2)))
  for (let at = 0; at < samples.length; at++) samples[at] = bytes.readInt16LE(at * 2)
  return samples
}

export class Engines extends Context.Service<Engines, ReadonlyMap<string, SpeechEngine>>()(
  "starling/speech-synthesizer/Engines"
) {
  static readonly layer = Layer.effect(
    Engines,
    Effect.gen(function* () {
      const { SpeechSynthesizer, VoiceCloning } = yield* Configuration
      const references = yield* References
      const threads = SpeechSynthesizer.Threads
      const found = yield* Effect.forEach(embeddedEngines, (name) =>
        embedded[name].open({ threads }).pipe(
          Effect.map((engine) => [engine]),
          Effect.catchTag("EngineMissing", (error) => Effect.as(Effect.logWarning(error.message), []))
        )
      )
      if (found.flat().length === 0) {
        const packages = embeddedEngines.map((name) => embedded[name].packages).join(", or ")
        return yield* new EngineMissing({ engine: "any", packages, detail: "none could be loaded" })
      }
      const modelFolder = VoiceCloning.ZeroShotModelFolder
      const zeroShot =
        modelFolder === "" ? [] : [yield* openZeroShotPool({ modelFolder, reference: references.samples })]
      const models = yield* openModels
      const { Voices } = yield* Configuration
      const processes = yield* Effect.forEach(Voices.Processes, openProcessPool, { concurrency: "unbounded" })
      return Engines.of(
        new Map([...found.flat(), ...models, ...processes, ...zeroShot].map((engine) => [engine.name, engine]))
      )
    })
  )
}

/** The operator's models must be usable, and are warm before the role is ready. */
const openModels = Effect.gen(function* () {
  const { Voices } = yield* Configuration
  const environment = yield* Environment
  const home = resolve(environment["STARLING_HOME"] ?? ".starling")
  const engines: Array<SpeechEngine> = []
  let bytesLeft = Voices.ModelMegabytesMax * 1_000_000
  for (const { model, isBundled } of fleetModels(Voices, environment)) {
    const open = openModelPool({ model, home, bytesMax: bytesLeft })
    if (isBundled) engines.push(yield* openedSoon(model.Id, open))
    else {
      const opened = yield* open
      engines.push(opened)
      bytesLeft -= opened.bytes
    }
  }
  return engines
})

/**
 * A model that ships with Starling does not delay the start: the first jobs wait for it. If it is unusable, those fail
 * and no others are taken.
 */
const openedSoon = Effect.fnUntraced(function* (id: string, open: ReturnType<typeof openModelPool>) {
  const opened = yield* Deferred.make<SpeechEngine, EngineMissing>()
  const state = yield* SubscriptionRef.make<EngineState>({ state: "opening" })
  const name = modelEngine(id)
  yield* open.pipe(
    Effect.mapError(({ message }) => new EngineMissing({ engine: name, packages: "a usable model", detail: message })),
    Effect.tapError((error) => Effect.logWarning(error.message)),
    (opening) => Deferred.complete(opened, opening),
    Effect.andThen(Effect.exit(Deferred.await(opened))),
    Effect.flatMap((exit) => SubscriptionRef.set(state, stateOf(exit))),
    Effect.forkScoped
  )
  const synthesize: SpeechEngine["synthesize"] = (job) =>
    Stream.unwrap(Effect.map(Deferred.await(opened), (engine) => engine.synthesize(job)))
  return { name, state, synthesize } satisfies SpeechEngine
})

const stateOf = (exit: Exit.Exit<SpeechEngine, EngineMissing>): EngineState =>
  Exit.match(exit, {
    onSuccess: () => ({ state: "ready" }),
    onFailure: (cause) => ({ state: "failed", detail: String(Cause.squash(cause)).slice(0, 600) })
  })

const renewEveryMs = 5_000
/** Two rounds can be missed. */
const keptMs = 15_000

type FallibleEngine = SpeechEngine & Required<Pick<SpeechEngine, "state">>
const isFallible = (engine: SpeechEngine): engine is FallibleEngine => engine.state !== undefined

export const announceEngineStates = Effect.fnUntraced(function* (all: ReadonlyArray<SpeechEngine>) {
  const engines = all.filter(isFallible)
  if (engines.length === 0) return
  const usable = (yield* Metrics).gauge(engineUsable)
  for (const { name, state } of engines) {
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
  const announcing = Stream.runForEach(turns, () =>
    Effect.catch(announce(engines), (error) => Effect.logDebug("the engines' states could not be published", error))
  )
  yield* Effect.forkScoped(supervise("engine states", Effect.andThen(announcing, Effect.fail("no more turns"))))
})

const announce = Effect.fnUntraced(function* (engines: ReadonlyArray<FallibleEngine>) {
  const { instance } = yield* Mailbox
  const bucket = yield* (yield* Kv).open("speech-engines", SynthesizerEngines)
  const states = yield* Effect.forEach(engines, ({ name, state }) =>
    Effect.map(SubscriptionRef.get(state), (now) => [name, now] as const)
  )
  const value: SynthesizerEngines = { engines: Object.fromEntries(states) }
  yield* records(bucket, { keptMs: () => keptMs }).change(instance, () => replaced(value))
})
