/** `SpeechApi`, `SpeechSequencer`, `SpeechSynthesizer` and `Audio`: how speech is served, cut, made and encoded. */
import { Schema } from "effect"
import { section, withDefault } from "./defaults.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

export const SpeechApi = section({
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1"),
  Port: withDefault(whole(0, 65_535), 7_403),
  /** Answers being spoken at once in one process; further callers are told to come back. */
  StreamsMax: withDefault(whole(1, 10_000), 500),
  /** Of one workspace, per process. */
  ConcurrencyPerWorkspace: withDefault(whole(1, 10_000), 100),
  /** Audio that may wait in one process for slow clients, over all streams. */
  WindowMegabytes: withDefault(whole(1, 1_024), 32),
  /** Headers of our own are read and written under each of these names. */
  HeaderPrefixes: withDefault(Schema.Array(Schema.NonEmptyString), ["Service", "Speechify"])
})

export const SpeechSequencer = section({
  /** Sessions at once in one process; a further one is refused as busy. */
  SessionsMax: withDefault(whole(1, 10_000), 500)
})

export const SpeechSynthesizer = section({
  /** Engine threads per process. */
  Threads: withDefault(whole(1, 64), 1)
})

export const Audio = section({
  FfmpegPath: withDefault(Schema.NonEmptyString, "ffmpeg"),
  /** Encoders at once in one process. */
  EncodersMax: withDefault(whole(1, 10_000), 400)
})
