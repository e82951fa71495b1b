/**
 * The role speech-api, whole.
 *
 * in: HTTP on SpeechApi.Port; frames on `speech.to.<instance>.<session>`
 * out: `speech.sessions` (request), credit and cancel to the sequencers
 * state: KV `voices`, `consents`, `consent-challenges`, objects `voice-samples`, `consent-recordings`; KV `tokens` is read, `token-uses` written
 * failure policy: a lost sequencer is replaced from the first missing sample, and waited for when there is none just
 * now; a caller that is gone cancels within 100 ms; what cannot be heard in time is 429 or 503 with Retry-After within
 * a second; a failure after the headers is `speech.error`
 */
import { Effect, Layer } from "effect"
import { Encoders, ffmpegPoolDefaults } from "#audio"
import {
  Admission,
  Auth,
  crossOrigin,
  descriptionRoute,
  FormFiles,
  HttpListener,
  Idempotency,
  Tokens,
  TokenUses
} from "#http"
import { Addresses, Configuration } from "#runtime"
import { audioRoutes } from "./audio-routes.ts"
import { catalogueRoutes } from "./catalogue-routes.ts"
import { speechCors } from "./cors.ts"
import { openApiDocument } from "./openapi.ts"
import { Speech } from "./Speech.ts"
import { SpeechAdmission } from "./SpeechAdmission.ts"
import { SpeechSessions } from "./SpeechSessions.ts"
import { clonedVoices } from "./voices/layer.ts"
import { voiceRoutes } from "./voice-routes.ts"

// All that refuses does so within a second.
const encoderPlaceWaitMs = 500

const parts = Layer.unwrap(
  Effect.map(Configuration, ({ Audio, SpeechApi }) =>
    Layer.mergeAll(
      Encoders.layer({
        ...ffmpegPoolDefaults,
        ffmpegPath: Audio.FfmpegPath,
        processesMax: Audio.EncodersMax,
        waitMsMax: encoderPlaceWaitMs
      }),
      Admission.layer({ runningMax: SpeechApi.StreamsMax, perWorkspaceMax: SpeechApi.ConcurrencyPerWorkspace }),
      Auth.layer().pipe(Layer.provide([Tokens.layer, TokenUses.layer])),
      FormFiles.layer(),
      Idempotency.layer()
    )
  )
)

const listener = Layer.unwrap(
  Effect.map(Configuration, ({ SpeechApi }) =>
    HttpListener.layer({
      name: "speech-api",
      host: SpeechApi.Host,
      port: SpeechApi.Port,
      routes: crossOrigin([...audioRoutes, ...catalogueRoutes, ...voiceRoutes, descriptionRoute(openApiDocument)]),
      cors: speechCors({ origins: SpeechApi.AllowedOrigins, headerPrefixes: SpeechApi.HeaderPrefixes }),
      requestIdHeaders: SpeechApi.HeaderPrefixes.map((prefix) => `${prefix}-Request-Id`)
    })
  )
)

const shown = Layer.effectDiscard(
  Effect.gen(function* () {
    const { url } = yield* HttpListener
    yield* (yield* Addresses).add("speech-api", url)
  })
)

/** Needs the bus and the runtime. */
export const speechApi = shown.pipe(
  Layer.provide(listener),
  Layer.provide(Speech.layer),
  Layer.provide(SpeechSessions.layer),
  Layer.provide(SpeechAdmission.layer),
  Layer.provide(clonedVoices),
  Layer.provide(parts)
)
