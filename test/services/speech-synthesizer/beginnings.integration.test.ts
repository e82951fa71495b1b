/** The first chunks of a crowd, on an engine with one thread: who has heard nothing yet comes first. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { jsonCodec, Mailbox, Publisher } from "#bus"
import { type ChunkFrameHead, ChunkJob, frameCodec, SequencerMail } from "#speech/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain, Metrics } from "#runtime"
import { openEnginePool } from "../../../libs/speech/engine/EnginePool.ts"
import { Engines } from "../../../services/speech-synthesizer/Engines.ts"
import { synthesizer } from "../../../services/speech-synthesizer/role.ts"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { piece, voiceOf } from "../../libs/speech/engine/jobs.ts"

const mail = frameCodec(SequencerMail)
const job = jsonCodec(ChunkJob)
const crowd = ["a", "b", "c", "d", "e"]
// Its callbacks are 50 ms of sound, so its frames are 1, 2, 4, 8 and 5 of them.
const text = "20 callbacks of 3"
const samples = 20 * 1_200
/** The limiter still holds the last 2 ms. */
const beginningSamples = 7 * 1_200 - 48

interface Arrived {
  readonly session: string
  readonly head: ChunkFrameHead
  readonly pcm: Int16Array
}

/** What comes of a crowd's first chunks that wait while the engine speaks to others. */
const arrivals = (isRepeatable: boolean) =>
  withBus(() =>
    Effect.gen(function* () {
      const mailbox = yield* Mailbox
      const publisher = yield* Publisher
      const arrived: Array<Arrived> = []
      const ask = (session: string, said: string, chunk: number) =>
        publisher.publish(subjects.speechChunks("espeak"), job, {
          sessionId: session,
          sequencer: mailbox.instance,
          chunk,
          voiceId: "any",
          voice: voiceOf("espeak", "any"),
          locale: "en-US",
          pieces: [piece(said)]
        })
      const hear = (session: string) =>
        mailbox.open(session, (bytes) => {
          const { head, pcm } = Result.getOrThrow(mail.decode(bytes))
          if (head._tag === "Chunk" && (pcm.length > 0 || head.isLast)) arrived.push({ session, head, pcm })
        })
      for (const session of ["another", ...crowd]) yield* hear(session)
      const { text: metrics } = yield* Metrics
      const allWait = new RegExp(`^speech_chunks_waiting\\{.*engine="espeak".*\\} ${crowd.length}$`, "mu")
      // Two jobs are in the engine's hands, the first until it is cancelled: by then all of the crowd wait behind both.
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* hear("other")
          yield* ask("other", "slow", 1)
          yield* ask("another", "short", 1)
          yield* eventually(() => arrived.length, { is: (length) => length > 0 })
          for (const session of crowd) yield* ask(session, text, 0)
          yield* eventually(metrics, { is: (shown) => allWait.test(shown) })
        })
      )
      const [{ head }] = arrived as [Arrived]
      mailbox.send(head.synthesizer, "other", mail.encode({ head: { _tag: "Cancel" }, pcm: new Int16Array(0) }))
      const ended = () => crowd.every((one) => arrived.some(({ session, head }) => session === one && head.isLast))
      yield* eventually(ended)
      return arrived.filter(({ session }) => crowd.includes(session))
    }).pipe(Effect.provide(roleWith(isRepeatable)))
  )

const roleWith = (isRepeatable: boolean) =>
  synthesizer.pipe(
    Layer.provide(
      Layer.effect(
        Engines,
        Effect.map(
          openEnginePool({
            engine: "espeak",
            speaks: "espeak",
            isRepeatable,
            entry: new URL("../../libs/speech/engine/fake-thread.ts", import.meta.url),
            packages: "nothing"
          }),
          (engine) => Engines.of(new Map([[engine.name, engine]]))
        )
      )
    ),
    Layer.provideMerge(Drain.layer),
    Layer.provide(Configuration.layerOf({}))
  )

const places = (arrived: ReadonlyArray<Arrived>, is: (one: Arrived) => boolean) =>
  crowd.map((session) => arrived.findIndex((one) => one.session === session && is(one)))

/** Every sample once, in order, whatever it was made in. */
const isWhole = (arrived: ReadonlyArray<Arrived>, session: string) => {
  const frames = arrived.filter((one) => one.session === session)
  let at = 0
  for (const { head, pcm } of frames) {
    if (head.sample !== at) return false
    at += pcm.length
  }
  return at === samples && new Set(frames.map(({ head }) => head.run)).size === 1
}

describe("the first chunks of a crowd", () => {
  it.live("all begin before any continues, where the engine can speak a job in parts", () =>
    Effect.gen(function* () {
      const arrived = yield* arrivals(true)

      const begun = places(arrived, ({ head }) => head.sample === 0)
      const goneOn = places(arrived, ({ head }) => head.sample === beginningSamples)
      assert.isBelow(Math.max(...begun), Math.min(...goneOn))
      for (const session of crowd) assert.isTrue(isWhole(arrived, session), session)
    })
  )
  it.live("are spoken one after the other, where a second run may sound different", () =>
    Effect.gen(function* () {
      const arrived = yield* arrivals(false)

      const begun = places(arrived, ({ head }) => head.sample === 0)
      const ended = places(arrived, ({ head }) => head.isLast)
      for (let at = 1; at < crowd.length; at++) assert.isAbove(begun[at] ?? 0, ended[at - 1] ?? 0)
      for (const session of crowd) assert.isTrue(isWhole(arrived, session), session)
    })
  )
})
