/**
 * The complete role speech-api.
 *
 * in: HTTP and WebSockets on SpeechApi.Port; frames on `speech.to.<instance>.<session>`
 * out: `speech.sessions` (request), credit and cancel to the sequencers; KV `speech-figures`, for operators; KV
 * `speech-engines` is followed, to know which voices can be heard
 * in and out: SPEECH_JOBS, the books to be spoken in the background
 * state: KV `voices`, `lexicons`, `consents`, `consent-challenges`, `speech-jobs`, objects `voice-samples`,
 * `consent-recordings`, `speech-job-files`; KV `tokens` is read, `token-uses` written
 * failure policy: a lost sequencer is replaced from the first missing sample; if no other is free, the session waits
 * for one; a caller that leaves cancels within 100 ms; a session that cannot be heard in time is refused with 429 or 503
 * and Retry-After within a second; a failure after the headers is `speech.error`; a job whose process dies goes to another
 */
import { Effect, Layer } from "effect"
import { Encoders, ffmpegPoolDefaults, RecordingIntake, recordingIntakeDefaults } from "#speech/audio"
import {
  Admission,
  Auth,
  type CorsPolicy,
  crossOrigin,
  descriptionRoutes,
  FormFiles,
  HttpListener,
  Idempotency,
  Tokens,
  TokenUses
} from "#http"
import { Configuration } from "#configuration"
import { ConsentVerification, VoiceMeasure } from "#speech/cloning"
import { Speech } from "./speaking/Speech.ts"
import { SpeechAdmission } from "./speaking/SpeechAdmission.ts"
import { SpeechSessions } from "./speaking/SpeechSessions.ts"
import { figuresPublished } from "./figures.ts"
import { audioRoutes } from "./http/audio.ts"
import { jobRoutes } from "./http/jobs.ts"
import { JobEvents } from "./jobs/JobEvents.ts"
import { JobFiles } from "./jobs/JobFiles.ts"
import { JobStore } from "./jobs/JobStore.ts"
import { jobWork } from "./jobs/work.ts"
import { lexiconRoutes } from "./http/lexicons.ts"
import { voiceRoutes } from "./http/voices.ts"
import { Lexicons } from "./lexicons/Lexicons.ts"
import { liveSockets } from "./live/connection.ts"
import { LiveConnections } from "./live/LiveConnections.ts"
import { liveRoutes } from "./live/routes.ts"
import { speechDocuments } from "./documents.ts"
import { renderSpeechError } from "./refusals.ts"
import { cartesiaRoutes } from "./http/cartesia.ts"
import { elevenLabsRoutes } from "./http/elevenlabs.ts"
import { cartesiaKey, elevenLabsKey, otherToken } from "./vendors/keys.ts"
import { Challenges } from "./voices/Challenges.ts"
import { ClonedVoices } from "./voices/ClonedVoices.ts"
import { announcedEngines } from "./voices/speakable.ts"
import { Consents } from "./voices/Consents.ts"
import { VoiceExam } from "./voices/VoiceExam.ts"
import { VoiceFiles } from "./voices/VoiceFiles.ts"
import { VoiceCreation } from "./voices/VoiceCreation.ts"
import { VoiceRemoval } from "./voices/VoiceRemoval.ts"

// Every refusal comes within a second.
const encoderPlaceWaitMs = 500

const parts = Layer.unwrap(
  Effect.map(Configuration, ({ Audio, SpeechApi }) =>
    Layer.mergeAll(
      Encoders.layer({
        ...ffmpegPoolDefaults,
        ffmpegPath: Audio.FfmpegPath,
        lameProcessesMax: Audio.LameProcessesMax,
        processesMax: Audio.EncodersMax,
        waitMsMax: encoderPlaceWaitMs
      }),
      Admission.layer({ runningMax: SpeechApi.StreamsMax, perWorkspaceMax: SpeechApi.ConcurrencyPerWorkspace }),
      Auth.layer({ otherToken }).pipe(Layer.provide([Tokens.layer, TokenUses.layer])),
      FormFiles.layer(),
      Idempotency.layer({ renderError: renderSpeechError })
    )
  )
)

export const speechRoutes = [
  ...audioRoutes,
  ...jobRoutes,
  ...voiceRoutes,
  ...lexiconRoutes,
  ...elevenLabsRoutes,
  ...cartesiaRoutes,
  ...descriptionRoutes(speechDocuments)
] as const

const listener = Layer.unwrap(
  Effect.map(Configuration, ({ SpeechApi }) =>
    HttpListener.layer({
      name: "speech-api",
      host: SpeechApi.Host,
      port: SpeechApi.Port,
      routes: crossOrigin([...speechRoutes, ...liveRoutes]),
      renderError: renderSpeechError,
      cors: speechCors({ origins: SpeechApi.AllowedOrigins, headerPrefixes: SpeechApi.HeaderPrefixes }),
      webSockets: liveSockets,
      requestIdHeaders: SpeechApi.HeaderPrefixes.map((prefix) => `${prefix}-Request-Id`)
    })
  )
)

const announced = HttpListener.announced("speech-api")

const examiners = Layer.unwrap(
  Effect.map(Configuration, ({ Audio, VoiceCloning }) =>
    Layer.mergeAll(
      RecordingIntake.layer({ ...recordingIntakeDefaults, ffmpegPath: Audio.FfmpegPath }),
      ConsentVerification.layer(VoiceCloning),
      VoiceMeasure.layer
    )
  )
)

const kept = Layer.mergeAll(ClonedVoices.layer, Consents.layer, VoiceFiles.layer)
const removal = VoiceRemoval.layer.pipe(Layer.provideMerge(kept))
const creation = VoiceCreation.layer.pipe(Layer.provide(VoiceExam.layer.pipe(Layer.provide(examiners))))

/** The parts that the voice routes need, and their background sweep. */
const clonedVoices = Layer.mergeAll(creation, VoiceRemoval.sweeping, Challenges.layer).pipe(Layer.provideMerge(removal))

/** Needs the bus and the runtime. */
export const speechApi = Layer.mergeAll(announced, figuresPublished).pipe(
  Layer.provide(listener),
  Layer.merge(jobWork),
  Layer.provide(JobEvents.layer.pipe(Layer.provideMerge(JobStore.layer), Layer.provideMerge(JobFiles.layer))),
  Layer.provide(LiveConnections.layer),
  Layer.provide(Speech.layer),
  Layer.provide(SpeechSessions.layer),
  Layer.provide(SpeechAdmission.layer),
  Layer.provide(clonedVoices),
  Layer.provide(Lexicons.layer),
  Layer.provide(parts),
  Layer.provide(announcedEngines)
)

/** What pages of other origins can send to the speech API and read of its answers, if they are allowed to call it. */
interface SpeechCors {
  readonly origins: CorsPolicy["origins"]
  /** Our own headers exist under each of these prefixes. */
  readonly headerPrefixes: ReadonlyArray<string>
}

const speechCors = ({ origins, headerPrefixes }: SpeechCors): CorsPolicy => ({
  origins,
  requestHeaders: [
    "Authorization",
    "Content-Type",
    "Accept",
    "Idempotency-Key",
    "If-None-Match",
    "traceparent",
    "X-Request-Id",
    elevenLabsKey,
    cartesiaKey,
    "Cartesia-Version",
    ...headerPrefixes.map((prefix) => `${prefix}-Version`)
  ],
  requestHeaderPrefixes: ["x-fern-"],
  exposedHeaders: [
    "Retry-After",
    "WWW-Authenticate",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "RateLimit-Remaining-Calls",
    "Idempotent-Replayed",
    "Deprecation",
    "Sunset",
    "Link",
    "Location",
    "ETag",
    "Age",
    "Server-Timing",
    "X-Request-Id",
    ...headerPrefixes.flatMap((prefix) => [`${prefix}-Request-Id`, `${prefix}-Audio-Content-Type`])
  ]
})
