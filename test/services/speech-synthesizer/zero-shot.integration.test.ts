/** The synthesizer with a model of its operator's, on a real bus: a chunk for a cloned voice, spoken. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Stream } from "effect"
import { jsonCodec, Mailbox, Objects, Publisher } from "#bus"
import { ChunkJob, frameCodec, SequencerMail } from "#speech/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain } from "#runtime"
import { zeroShotVoice } from "#speech/cloning"
import { speechSynthesizer } from "../../../services/speech-synthesizer/role.ts"
import { References } from "../../../services/speech-synthesizer/Engines.ts"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { writeTinyVits } from "../../support/tiny-voices.ts"

const store = "voice-samples"
const mail = frameCodec(SequencerMail)
const traits = {
  medianPitchHz: 120,
  pitchRangeSemitones: 4,
  syllablesPerSecond: 5,
  formantPercent: 100,
  speechLevelDbfs: -19
}
const recording = Int16Array.from({ length: 16_000 }, (_, at) => (at % 200) - 100)

const keep = Effect.fnUntraced(function* (object: string, bytes: Uint8Array) {
  yield* (yield* Objects).put(store, object, Stream.make(bytes))
})
const keepRecording = keep("w.v.reference", new Uint8Array(recording.buffer))

const role = (modelFolder: string) =>
  speechSynthesizer.pipe(
    Layer.provideMerge(Drain.layer),
    Layer.provide(Configuration.layerOf({ VoiceCloning: { ZeroShotModelFolder: modelFolder } }))
  )

const jobOf = (sequencer: string, object: string) => ({
  sessionId: "session",
  sequencer,
  chunk: 0,
  voiceId: "cloned",
  voice: zeroShotVoice(traits, { object, text: "one two" }),
  locale: "en-US",
  pieces: [{ text: "One two three.", ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }]
})

/** A sequencer's view of a job, until its end. */
const heardOf = Effect.fnUntraced(function* (object: string) {
  const mailbox = yield* Mailbox
  const heads: Array<SequencerMail> = []
  let samples = 0
  yield* mailbox.open("session", (bytes) => {
    const { head, pcm } = Result.getOrThrow(mail.decode(bytes))
    heads.push(head)
    samples += pcm.length
  })
  yield* (yield* Publisher).publish(
    subjects.speechChunks("zero-shot"),
    jsonCodec(ChunkJob),
    jobOf(mailbox.instance, object)
  )
  const isEnded = () => heads.some((head) => head._tag === "ChunkFailed" || (head._tag === "Chunk" && head.isLast))
  yield* eventually(isEnded)
  return { heads, samples }
})

const modelFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "starling-test-"))
    writeTinyVits(path)
    return path
  }),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("a synthesizer with a zero-shot model", () => {
  it.live("speaks a chunk with its voice's recording", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* keepRecording
        const { heads, samples } = yield* heardOf("w.v.reference").pipe(Effect.provide(role(yield* modelFolder)))

        assert.isTrue(
          heads.every(({ _tag }) => _tag === "Chunk"),
          JSON.stringify(heads)
        )
        // Three words, the spaces behind them, and the pause at the end of the sentence.
        assert.closeTo(samples / 24_000, (7 * 1_024) / 16_000 + 0.29, 0.001)
      })
    )
  )
  it.live("reports a voice with a missing recording to the sequencer", () =>
    withBus(() =>
      Effect.gen(function* () {
        const { heads } = yield* heardOf("w.v.nothing").pipe(Effect.provide(role(yield* modelFolder)))

        const [failed] = heads.filter(({ _tag }) => _tag === "ChunkFailed")
        assert.isDefined(failed)
        assert.match(JSON.stringify(failed), /its recording cannot be read/u)
      })
    )
  )
  it.live("does not start with a folder without a model", () =>
    withBus(() =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(role(tmpdir()))))

        assert.strictEqual(error._tag, "ZeroShotModelUnusable")
        assert.match(String(error), /VoiceCloning\.ZeroShotModelFolder/u)
      })
    )
  )
})

describe("the recordings of voices", () => {
  it.live("are read once, as they were stored", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* keepRecording
        const { samples } = yield* References

        const first = yield* samples("w.v.reference")
        const again = yield* samples("w.v.reference")

        assert.deepStrictEqual([...first], [...recording])
        assert.strictEqual(again, first)
      }).pipe(Effect.provide(References.layer))
    )
  )
  it.live("are refused when they are empty or longer than a minute, and requested again when they arrive", () =>
    withBus(() =>
      Effect.gen(function* () {
        const { samples } = yield* References
        yield* keep("empty", new Uint8Array(0))
        yield* keep("long", new Uint8Array(60 * 32_000 + 1))

        assert.match(yield* Effect.flip(samples("empty")), /empty/u)
        assert.match(yield* Effect.flip(samples("long")), /longer/u)
        assert.match(yield* Effect.flip(samples("w.v.reference")), /no such object/u)
        yield* keepRecording
        assert.strictEqual((yield* samples("w.v.reference")).length, recording.length)
      }).pipe(Effect.provide(References.layer))
    )
  )
})
