/** The synthesizer with an engine that takes its time: an engine's thread that is busy for five seconds. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { jsonCodec, Mailbox, Publisher } from "#bus"
import { ChunkJob, frameCodec, SequencerMail } from "#speech/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain } from "#runtime"
import { openEnginePool } from "../../../libs/speech/engine/EnginePool.ts"
import { Engines } from "../../../services/speech-synthesizer/Engines.ts"
import { synthesizer } from "../../../services/speech-synthesizer/role.ts"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { piece, voiceOf } from "../../libs/speech/engine/jobs.ts"

const mail = frameCodec(SequencerMail)
const slowEngine = Layer.effect(
  Engines,
  Effect.map(
    openEnginePool({
      engine: "espeak",
      speaks: "espeak",
      entry: new URL("../../libs/speech/engine/fake-thread.ts", import.meta.url),
      packages: "nothing"
    }),
    (engine) => Engines.of(new Map([[engine.name, engine]]))
  )
)
const role = synthesizer.pipe(
  Layer.provide(slowEngine),
  Layer.provideMerge(Drain.layer),
  Layer.provide(Configuration.layerOf({}))
)

describe("a slow chunk", () => {
  it.live("reports its progress every second, so that the sequencer requests it of no other synthesizer", () =>
    withBus(() =>
      Effect.gen(function* () {
        const mailbox = yield* Mailbox
        const frames: Array<{ readonly atMs: number; readonly samples: number; readonly isLast: boolean }> = []
        yield* mailbox.open("session", (bytes) => {
          const { head, pcm } = Result.getOrThrow(mail.decode(bytes))
          frames.push({ atMs: performance.now(), samples: pcm.length, isLast: head._tag === "Chunk" && head.isLast })
        })
        const job = {
          sessionId: "session",
          sequencer: mailbox.instance,
          chunk: 3,
          voiceId: "slow",
          voice: voiceOf("espeak", "any"),
          locale: "en-US",
          pieces: [piece("hang")]
        }

        yield* (yield* Publisher).publish(subjects.speechChunks("espeak"), jsonCodec(ChunkJob), job)
        yield* eventually(() => frames.some(({ isLast }) => isLast))

        const beats = frames.filter(({ samples, isLast }) => samples === 0 && !isLast)
        assert.isAtLeast(beats.length, 3)
        const pauses = beats.slice(1).map(({ atMs }, at) => atMs - (beats[at]?.atMs ?? 0))
        // A sequencer waits for 2.5 s.
        assert.isTrue(pauses.every((ms) => ms < 2_000))
        assert.strictEqual(
          frames.reduce((sum, { samples }) => sum + samples, 0),
          1_200
        )
      }).pipe(Effect.provide(role))
    )
  )
})
