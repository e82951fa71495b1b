/** The base of every comparison: the engine alone, in this process, with nothing around it. */
import { tmpdir } from "node:os"
import { Effect, Layer, Result, Stream } from "effect"
import { decodeConfiguration } from "#configuration"
import { Metrics, Role } from "#runtime"
import { catalogueOf, embedded, engineVoice, fleetModels, openModelPool } from "#speech"

export interface BareSpeech {
  readonly firstPcmMs: number
  readonly pcm: Int16Array
  /** Where the engine says that its words begin. */
  readonly wordsMs: ReadonlyArray<number>
}

export type BareEngine = (text: string) => Promise<BareSpeech>

const samplesPerMs = 24
const plain = { ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }
const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-synthesizer")))

/** The engine of a voice of the catalogue, as a fleet opens it. */
const engineOf = Effect.fnUntraced(function* (voiceId: string) {
  const { Voices } = Result.getOrThrowWith(decodeConfiguration({}), (faults) => new Error(JSON.stringify(faults)))
  const models = fleetModels(Voices, process.env).map(({ model }) => model)
  const shared = catalogueOf(models).byId(voiceId)
  const voice = shared === undefined ? undefined : engineVoice(shared, shared.locale)
  if (voice === undefined) return yield* Effect.die(`there is no ${voiceId}`)
  const model = models.find(({ Id }) => voice.engine === `model-${Id}`)
  if (model === undefined) return { voice, pool: yield* embedded.espeak.open() }
  return { voice, pool: yield* openModelPool({ model, home: tmpdir(), bytesMax: Number.POSITIVE_INFINITY }) }
})

export const withBareEngine = <A>(use: (engine: BareEngine) => Promise<A>, voiceId = "henry"): Promise<A> =>
  Effect.gen(function* () {
    const { pool, voice } = yield* engineOf(voiceId)
    const run = Effect.runPromiseWith(yield* Effect.context<never>())
    const engine: BareEngine = async (text) => {
      const started = performance.now()
      let firstPcmMs = Number.NaN
      const heard = Stream.tap(pool.synthesize({ voice, pieces: [{ text, ...plain }] }), ({ pcm }) =>
        Effect.sync(() => {
          if (pcm.length > 0 && Number.isNaN(firstPcmMs)) firstPcmMs = performance.now() - started
        })
      )
      const frames = await run(Stream.runCollect(heard))
      const bytes = frames.map(({ pcm }) => Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength))
      return {
        firstPcmMs,
        pcm: new Int16Array(new Uint8Array(Buffer.concat(bytes)).buffer),
        wordsMs: frames.flatMap(({ words }) => words.map(({ sample }) => sample / samplesPerMs))
      }
    }
    return yield* Effect.promise(() => use(engine))
  }).pipe(Effect.scoped, Effect.provide(metrics), Effect.runPromise)
