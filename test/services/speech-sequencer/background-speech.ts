/** Sessions with a listener and in the background, on a fleet of the real roles and engines. */
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { Clock, Effect, Layer, Stream } from "effect"
import { Mailbox } from "#bus"
import { concatPcm } from "#speech/audio"
import type { SpeechTurn, SpokenMark } from "#speech/contract"
import { Configuration } from "#configuration"
import { Drain } from "#runtime"
import { speechSequencer } from "#speech-sequencer"
import { embedded } from "../../../libs/speech/engine/embedded.ts"
import { openModelPool } from "../../../libs/speech/engine/models/ModelPool.ts"
import { type SessionPace, SpeechAdmission } from "../../../services/speech-api/speaking/SpeechAdmission.ts"
import { SpeechSessions } from "../../../services/speech-api/speaking/SpeechSessions.ts"
import { Engines } from "../../../services/speech-synthesizer/Engines.ts"
import { synthesizer } from "../../../services/speech-synthesizer/role.ts"
import { plainStyle, voiceOf } from "../../libs/speech/engine/jobs.ts"

const folder = join(process.env["STARLING_VOICES"] ?? "", "hibari-0.2.1")
export const hasHeart = (process.env["STARLING_VOICES"] ?? "") !== ""
const model = {
  Id: "hibari",
  Folder: folder,
  Threads: 1,
  Voices: [{ Id: "heart", Locale: "en-US", Gender: "female", Speaker: "0", GainDb: 0, Tags: [] } as const]
}

const engines = Layer.effect(
  Engines,
  Effect.gen(function* () {
    const espeak = yield* embedded.espeak.open()
    const heart = hasHeart ? [yield* openModelPool({ model, home: folder, bytesMax: 100_000_000 })] : []
    return Engines.of(new Map([espeak, ...heart].map((engine) => [engine.name, engine])))
  })
)
const ownMailbox = Layer.fresh(Mailbox.layer)
const configuration = Configuration.layerOf({})

/** All but synthesizers, each with a mailbox of its own, as in processes of their own. */
export const sessions = Layer.mergeAll(
  SpeechSessions.layer,
  SpeechAdmission.layer,
  speechSequencer.pipe(Layer.provide(ownMailbox))
).pipe(Layer.provideMerge(Drain.layer), Layer.provide(configuration))

const ownSynthesizer = synthesizer.pipe(
  Layer.provide(engines),
  Layer.provide(ownMailbox),
  Layer.provide(Drain.layer),
  Layer.provide(configuration)
)
export const speechRoles = Layer.mergeAll(sessions, ownSynthesizer)

const voices = {
  espeak: voiceOf("espeak", "en-us"),
  heart: { engine: "model-hibari", name: "0", language: "en-us", ...plainStyle, formantPercent: 100, gainDb: 0 }
} as const
export type Voice = keyof typeof voices

export const turnsOf = (voice: Voice, inputs: ReadonlyArray<string>): ReadonlyArray<SpeechTurn> =>
  inputs.map((input) => ({ voiceId: voice, voice: voices[voice], locale: "en-US", input, pauseAfterMs: 300 }))

/** Of a caller that every sequencer accepts: what is measured is the way of its sound. */
const listening = Effect.map(Clock.currentTimeMillis, (nowMs): SessionPace => ({
  turn: Effect.void,
  windowSamplesMax: () => Number.POSITIVE_INFINITY,
  begunByMs: () => nowMs + 30_000,
  mustBegin: () => true
}))

export interface Spoken {
  readonly pcm: Int16Array
  readonly marks: ReadonlyArray<SpokenMark>
  readonly firstMs: number
}

export const speak = Effect.fnUntraced(function* (turns: ReadonlyArray<SpeechTurn>, isBackground?: true) {
  const beganMs = performance.now()
  const pace = isBackground ? yield* (yield* SpeechAdmission).background : yield* listening
  const order = { turns, textNormalization: true, ...(isBackground && { isBackground }) }
  const { pieces } = yield* (yield* SpeechSessions).open(order, pace)
  let firstMs = Number.NaN
  const all = yield* Stream.runCollect(
    Stream.tap(pieces, () =>
      Effect.sync(() => (firstMs = Number.isNaN(firstMs) ? performance.now() - beganMs : firstMs))
    )
  )
  const spoken: Spoken = {
    pcm: concatPcm(all.map(({ pcm }) => pcm)),
    marks: all.flatMap(({ marks }) => marks),
    firstMs
  }
  return spoken
}, Effect.scoped)

export const chapter = [
  "The harbour wakes before the town does, and nobody minds the gulls. The first boats come home with whatever the night has given them, and the women on the quay count baskets while the boys who should be asleep run up and down the wet stones.",
  "...",
  "At 7:30 the bell rings. Nobody looks up, for everybody has heard it every morning of their lives."
]

export const isSame = (left: Spoken, right: Spoken) =>
  Buffer.from(left.pcm.buffer, left.pcm.byteOffset, left.pcm.byteLength).equals(
    Buffer.from(right.pcm.buffer, right.pcm.byteOffset, right.pcm.byteLength)
  ) && isDeepStrictEqual(left.marks, right.marks)
