/** A text on its way through all three speech roles on a real bus, without HTTP: planned, spoken, encoded. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Stream } from "effect"
import { Encoders, ffmpegPoolDefaults } from "#speech/audio"
import { localTransport, Mailbox, Nats } from "#bus"
import { Configuration } from "#configuration"
import { Drain, Metrics } from "#runtime"
import { speechSequencer } from "#speech-sequencer"
import { speechSynthesizer } from "#speech-synthesizer"
import { Speech } from "../../../../services/speech-api/speaking/Speech.ts"
import { SpeechAdmission } from "../../../../services/speech-api/speaking/SpeechAdmission.ts"
import { SpeechSessions } from "../../../../services/speech-api/speaking/SpeechSessions.ts"
import { busOn, withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { dialogue, planned, stream } from "./planned-orders.ts"

// A busy machine is slow; refusals for that are not under test.
const configuration = Configuration.layerOf({ SpeechApi: { FirstSoundSecondsMax: 30 } })

/** The API and the sequencer have a mailbox each, as in processes of their own or as beside each other in one. */
const rolesWith = (mailbox: typeof Mailbox.layer) =>
  Layer.mergeAll(
    Speech.layer.pipe(
      Layer.provideMerge(Layer.mergeAll(SpeechSessions.layer, SpeechAdmission.layer)),
      Layer.provide(Layer.fresh(mailbox))
    ),
    speechSequencer.pipe(Layer.provide(Layer.fresh(mailbox))),
    speechSynthesizer
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(Encoders.layer(ffmpegPoolDefaults), Drain.layer)),
    Layer.provide(configuration)
  )

const roles = rolesWith(Mailbox.layer)

const startedAtMs = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1e6)

const speak = Effect.fnUntraced(function* (...order: Parameters<typeof planned>) {
  return yield* (yield* Speech).speak(planned(...order), yield* startedAtMs)
})

describe("speech through all three roles", () => {
  it.live("gives audio, a mark for every word, and the times of its stages", () =>
    withBus(() =>
      Effect.gen(function* () {
        const input = "One two three. Four five six."
        const spoken = yield* speak({ turns: [{ input, voice_id: "henry" }], output_format: "pcm_24000" }, stream)
        const bytes = yield* Stream.runFold(
          spoken.bytes,
          () => 0,
          (sum, part) => sum + part.length
        )
        const marks = spoken.takeMarks()
        assert.deepStrictEqual(
          marks.map(({ value }) => value),
          ["One", "two", "three.", "Four", "five", "six."]
        )
        assert.strictEqual(spoken.durationMs(), bytes / 48)
        assert.isAbove(spoken.durationMs(), 1_000)
        const { firstBytes, firstByteMedianMs } = (yield* Speech).recent(yield* Clock.currentTimeMillis)
        assert.strictEqual(firstBytes, 1)
        assert.isAbove(firstByteMedianMs ?? 0, 0)
        assert.match(
          spoken.timing(),
          /^wait;dur=[\d.]+, admit;dur=[\d.]+, first_pcm;dur=[\d.]+, encode;dur=[\d.]+, first_sound;dur=[\d.]+$/u
        )
      }).pipe(Effect.provide(roles))
    )
  )

  it.live("speaks a dialogue's turns in sequence", () =>
    withBus(() =>
      Effect.gen(function* () {
        const turns = [
          { input: "Hello.", voice_id: "henry" },
          { input: "Good morning.", voice_id: "henry" }
        ]
        const spoken = yield* speak({ turns, output_format: "pcm_24000" }, dialogue)
        yield* Stream.runDrain(spoken.bytes)
        assert.deepStrictEqual(
          spoken.takeMarks().map(({ turn, value }) => [turn, value]),
          [
            [0, "Hello."],
            [1, "Good"],
            [1, "morning."]
          ]
        )
      }).pipe(Effect.provide(roles))
    )
  )

  it.live("ends its session when its caller leaves in the middle", () =>
    withBus(() =>
      Effect.gen(function* () {
        const input = "All work and no play makes a long text. ".repeat(100)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const spoken = yield* speak({ turns: [{ input, voice_id: "henry" }], output_format: "pcm_24000" }, stream)
            yield* Stream.runDrain(Stream.take(spoken.bytes, 1))
          })
        )
        assert.strictEqual((yield* SpeechSessions).active(), 0)
        const metrics = yield* Metrics
        yield* eventually(metrics.text, {
          is: (text) => /^speech_sessions_total\{.*outcome="cancelled".*\} 1$/mu.test(text)
        })
      }).pipe(Effect.provide(roles))
    )
  )

  it.live.each([
    { are: "share a process", beside: true, crossings: 1 },
    { are: "are processes of their own", beside: false, crossings: 2 }
  ])("takes PCM over the broker $crossings times when API and sequencer $are", ({ beside, crossings }) =>
    withBus((server) =>
      Effect.gen(function* () {
        const transport = beside ? yield* Layer.build(Layer.fresh(localTransport)) : Context.empty()
        const { connection } = Context.get(yield* Layer.build(Layer.fresh(busOn(server))), Nats)
        let bytes = 0
        connection.subscribe("speech.to.>", { callback: (_error, message) => void (bytes += message.data.length) })
        yield* Effect.promise(() => connection.flush())
        yield* Effect.gen(function* () {
          const input = "The harbour wakes before the town does, and nobody minds. ".repeat(10)
          const spoken = yield* speak({ turns: [{ input, voice_id: "henry" }], output_format: "pcm_24000" }, stream)
          yield* Stream.runDrain(spoken.bytes)
          const pcmBytes = spoken.durationMs() * 48
          assert.isAbove(pcmBytes, 1_000_000)
          // The last frames may still be on their way to this listener.
          yield* eventually(() => Math.round(bytes / pcmBytes), { is: (seen) => seen >= crossings })
          yield* Effect.promise(() => connection.flush())
          assert.strictEqual(Math.round(bytes / pcmBytes), crossings)
        }).pipe(Effect.provide(rolesWith(Mailbox.layer.pipe(Layer.provide(Layer.succeedContext(transport))))))
      })
    )
  )
})
