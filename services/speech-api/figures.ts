/**
 * Reports to operators how this process is doing: a record in the bucket `speech-figures`, renewed every few seconds
 * and gone with the process. Nothing here delays an answer; if the broker is unavailable, the report waits for the next
 * round.
 */
import { Clock, Effect, Layer } from "effect"
import { Kv, Mailbox, records, replaced } from "#bus"
import { type FigureVoice, SpeechFigures } from "#speech/contract"
import { Configuration } from "#configuration"
import { supervise } from "#runtime"
import { type SharedVoice } from "#speech"
import { Speech } from "./speaking/Speech.ts"
import { SpeechSessions } from "./speaking/SpeechSessions.ts"
import { configuredCatalogue } from "./voices/configured-catalogue.ts"

const renewEvery = "5 seconds"
/** Two rounds can be missed. */
const keptMs = 15_000

const voiceOf = ({ id, displayName, gender, locale, models, engine }: SharedVoice): FigureVoice => ({
  id,
  name: displayName,
  gender,
  locale,
  languages: [...new Set(models.flatMap(({ languages }) => languages))],
  engine: engine.engine
})

export const figuresPublished = Layer.effectDiscard(
  Effect.gen(function* () {
    const kv = yield* Kv
    const speech = yield* Speech
    const sessions = yield* SpeechSessions
    const { instance } = yield* Mailbox
    const { SpeechApi } = yield* Configuration
    const startedAtMs = yield* Clock.currentTimeMillis
    const publishOnce = Effect.gen(function* () {
      const bucket = yield* kv.open("speech-figures", SpeechFigures)
      const figures: SpeechFigures = {
        startedAtMs,
        sessions: sessions.active(),
        sessionsMax: SpeechApi.StreamsMax,
        ...speech.recent(yield* Clock.currentTimeMillis),
        voices: (yield* configuredCatalogue).voices.map(voiceOf)
      }
      yield* records(bucket, { keptMs: () => keptMs }).change(instance, () => replaced(figures))
    })
    const once = Effect.catch(publishOnce, (error) =>
      Effect.logDebug("the figures of speech could not be published", error)
    )
    yield* Effect.forkScoped(
      supervise("speech figures", Effect.forever(Effect.andThen(once, Effect.sleep(renewEvery))))
    )
  })
)
