/** The routes of the speech API on a socket, over sessions in which each word lasts a tenth of a second. */
import { Effect, Layer, Option, Stream } from "effect"
import { speechSampleRateHz, type WordMark } from "#speech/contract"
import { Encoders } from "#speech/audio"
import { Admission, Auth, FormFiles, HttpListener, Idempotency, type TokenRecord, Tokens, TokenUses } from "#http"
import { Configuration } from "#configuration"
import { FfmpegPool } from "../../../../libs/speech/audio/encoders/pool.ts"
import { audioRoutes } from "../../../../services/speech-api/http/audio.ts"
import { voiceRoutes } from "../../../../services/speech-api/http/voices.ts"
import { Lexicons } from "../../../../services/speech-api/lexicons/Lexicons.ts"
import { InputRefused, renderSpeechError } from "../../../../services/speech-api/refusals.ts"
import { Speech } from "../../../../services/speech-api/speaking/Speech.ts"
import { SpeechAdmission } from "../../../../services/speech-api/speaking/SpeechAdmission.ts"
import { SpeechSessions } from "../../../../services/speech-api/speaking/SpeechSessions.ts"
import { Challenges } from "../../../../services/speech-api/voices/Challenges.ts"
import { ClonedVoices } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import { VoiceCreation } from "../../../../services/speech-api/voices/VoiceCreation.ts"
import { VoiceFiles } from "../../../../services/speech-api/voices/VoiceFiles.ts"
import { VoiceRemoval } from "../../../../services/speech-api/voices/VoiceRemoval.ts"
import { cartesiaRoutes } from "../../../../services/speech-api/http/cartesia.ts"
import { elevenLabsRoutes } from "../../../../services/speech-api/http/elevenlabs.ts"
import { otherToken } from "../../../../services/speech-api/vendors/keys.ts"

import { under } from "../../../libs/http/api.ts"

export const token = "a-token"
export const listenersToken = "a-listener"

const wordMs = 100
const wordPcm = new Int16Array((speechSampleRateHz * wordMs) / 1_000).fill(1_000)

const record = (scopes: ReadonlyArray<string>): TokenRecord => ({
  id: "t1",
  workspace: "default",
  kind: "member",
  role: "member",
  scopes,
  createdAt: "2026-01-01T00:00:00.000Z" as TokenRecord["createdAt"],
  revokedAt: null
})

const tokens: Readonly<Record<string, TokenRecord>> = {
  [token]: record(["audio:all", "voices:all"]),
  [listenersToken]: record(["voices:read"])
}

const marksOf = (input: string): ReadonlyArray<WordMark> =>
  Array.from(input.matchAll(/\S*[\p{L}\p{N}]\S*/gu), ({ 0: value, index }, nth) => ({
    type: "word",
    start: index,
    end: index + value.length,
    start_time: nth * wordMs,
    end_time: (nth + 1) * wordMs,
    value
  }))

const sessions = Layer.succeed(SpeechSessions, {
  active: () => 0,
  open: ({ turns }) => {
    const [{ input } = { input: "" }] = turns
    const faults = [{ path: "turns/0/input", message: "there is nothing to say, at offset 0" }]
    if (input.trim() === "") return Effect.fail(new InputRefused({ faults }))
    const pieces = marksOf(input).map((mark) => ({ pcm: wordPcm, marks: [mark], waitedMs: 0 }))
    return Effect.succeed({
      sentences: [{ turn: 0, start: 0, end: input.length }],
      pieces: Stream.fromIterable(pieces)
    })
  }
})

const encoders = Encoders.layerNoDeps.pipe(
  Layer.provide(Layer.succeed(FfmpegPool, { take: () => Effect.die("PCM needs no ffmpeg") }))
)

const auth = Auth.layer({ otherToken }).pipe(
  Layer.provide(Layer.mock(Tokens, { find: (key) => Effect.succeed(Option.fromNullishOr(tokens[key])) })),
  Layer.provide(Layer.mock(TokenUses, { note: () => Effect.void }))
)

/** With at most so many answers of a workspace at once. */
export const spokenApi = (perWorkspaceMax = 8) =>
  HttpListener.layer({
    name: "speech-api",
    host: "127.0.0.1",
    port: 0,
    routes: [...audioRoutes, ...voiceRoutes, ...elevenLabsRoutes, ...cartesiaRoutes],
    renderError: renderSpeechError
  }).pipe(
    Layer.provide([
      Speech.layer,
      auth,
      Admission.layer({ runningMax: 100, perWorkspaceMax }),
      Layer.mock(Idempotency, {}),
      FormFiles.layer(),
      Layer.mock(Lexicons, { matchers: () => Effect.succeed([]) }),
      Layer.mock(ClonedVoices, { find: () => Effect.succeedNone, list: () => Effect.succeed([]) }),
      Layer.mock(VoiceFiles, {}),
      Layer.mock(VoiceRemoval, {}),
      Layer.mock(VoiceCreation, {}),
      Layer.mock(Challenges, {})
    ]),
    Layer.provide([sessions, SpeechAdmission.layer, encoders]),
    Layer.provideMerge(under),
    Layer.provide(Configuration.layerOf({ SpeechApi: { VendorVoices: { theirs: "henry" } } }))
  )
