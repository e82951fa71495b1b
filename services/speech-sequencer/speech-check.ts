/**
 * The check of the way of speech: a word goes to a synthesizer over SPEECH, and comes back as sound. A session that was
 * spoken shows the same.
 */
import { randomUUID } from "node:crypto"
import { Deferred, Effect, Result } from "effect"
import { jsonCodec, Mailbox, Publisher } from "#bus"
import { subjects } from "#base"
import { ChunkJob, embeddedEngines, frameCodec, SequencerMail } from "#speech/contract"
import { check } from "#runtime"
import { isAudible, type SharedVoice, sharedVoices, spokenWord, voiceOfEngine } from "#speech"

// A job of a synthesizer that died goes to another one after a second.
const spokenWithinMs = 3_000
// Where no synthesizer takes a word, each voice is waited for.
const pauseMs = 7_000

const jobCodec = jsonCodec(ChunkJob)
const mailCodec = frameCodec(SequencerMail)

export const checkSpeech = Effect.gen(function* () {
  // A synthesizer leaves out an engine that its host lacks: the one that spoke last is asked first.
  let voices = embeddedEngines.flatMap((engine) => voiceOfEngine({ voices: sharedVoices }, engine) ?? [])
  const moveUp = (voice: SharedVoice) => {
    voices = [voice, ...voices.filter((other) => other !== voice)]
  }
  const run = Effect.suspend(() =>
    Effect.firstSuccessOf(
      voices.map((voice) =>
        Effect.tap(
          speak(voice),
          Effect.sync(() => moveUp(voice))
        )
      )
    )
  )
  return yield* check({ name: "speech", run, pauseMs: () => pauseMs })
})

const speak = Effect.fnUntraced(function* ({ id, engine: voice, locale }: SharedVoice) {
  const mailbox = yield* Mailbox
  const heard = yield* Deferred.make<void, string>()
  const sessionId = `check-${randomUUID()}`
  yield* mailbox.open(sessionId, (bytes) => {
    const mail = mailCodec.decode(bytes)
    if (Result.isFailure(mail)) return
    const { head, pcm } = mail.success
    if (head._tag === "ChunkFailed") Deferred.doneUnsafe(heard, Effect.fail(head.reason))
    else if (isAudible(pcm)) Deferred.doneUnsafe(heard, Effect.void)
  })
  const job = { sessionId, sequencer: mailbox.instance, chunk: 0, voiceId: id, voice, locale, pieces: [spokenWord] }
  yield* Effect.mapError(
    (yield* Publisher).publish(subjects.speechChunks(voice.engine), jobCodec, job),
    ({ message }) => message
  )
  yield* Effect.timeoutOrElse(Deferred.await(heard), {
    duration: spokenWithinMs,
    orElse: () => Effect.fail(`no synthesizer spoke a word with ${voice.engine} within ${spokenWithinMs} ms`)
  })
}, Effect.scoped)
