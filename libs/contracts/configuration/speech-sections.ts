/**
 * `SpeechApi`, `SpeechSequencer`, `SpeechSynthesizer`, `Audio` and `VoiceCloning`: how speech is served, cut, made
 * and encoded, and whose voice may be cloned.
 */
import { Schema } from "effect"
import { AllowedOrigins } from "./allowed-origins.ts"
import { section, withDefault } from "./defaults.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

export const SpeechApi = section({
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1"),
  Port: withDefault(whole(0, 65_535), 7_403),
  AllowedOrigins: withDefault(
    AllowedOrigins,
    [],
    "Whose pages may call from a browser, `*` for any. None: a token in a page is anybody's."
  ),
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

const fraction = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

export const VoiceCloning = section({
  /** Less than this tells too little of a voice. */
  SampleSecondsMin: withDefault(fraction(1, 600), 10),
  SampleSecondsMax: withDefault(fraction(1, 600), 30),
  /** The phrase takes some eight seconds to read. */
  ConsentSecondsMin: withDefault(fraction(1, 600), 5),
  ConsentSecondsMax: withDefault(fraction(1, 600), 30),
  /** Share of a recording that may be silence. Read with a pause of a second after each word, it is about a half. */
  SilenceRatioMax: withDefault(fraction(0, 1), 0.7),
  /** Share of a recording's samples that may be cut off at full scale; speech that is clean has none. */
  ClippingRatioMax: withDefault(fraction(0, 1), 0.01),
  /**
   * Of the five words of a phrase, how many must be heard in order. Of 48 recordings none had fewer than 4, and for
   * 2,256 other challenges none had more than 2 (load-tests/README.md).
   */
  PhraseWordsMin: withDefault(whole(1, 5), 4),
  /**
   * How far sample and consent may lie apart, for the built-in check. One voice was 6.3 from itself at worst, in some
   * noise; two voices were 16.1 apart at least (load-tests/README.md).
   */
  SpeakerDistanceMax: withDefault(fraction(0, 1_000), 12),
  /** A folder with a speaker embedding model, `model.onnx`; empty: the built-in check, which is weak. */
  SpeakerModelFolder: withDefault(Schema.String, ""),
  /** How far they may lie apart for the model: one less the cosine of the angle between the embeddings. */
  SpeakerModelDistanceMax: withDefault(fraction(0, 2), 0.5),
  PocketsphinxPath: withDefault(Schema.NonEmptyString, "pocketsphinx_batch"),
  /** The folder with the recogniser's acoustic model and dictionary. */
  PocketsphinxModelFolder: withDefault(Schema.NonEmptyString, "/usr/share/pocketsphinx/model/en-us"),
  /** Consents verified at once in one process; each takes about a second of a processor. */
  VerificationsMax: withDefault(whole(1, 64), 2),
  /** Of one workspace, over all processes. */
  ChallengesPerHour: withDefault(whole(1, 300), 30),
  /** How long a phrase may be read. */
  ChallengeMinutes: withDefault(fraction(0.01, 1_440), 10),
  VoicesPerWorkspace: withDefault(whole(0, 10_000), 100),
  /** Workspaces for which tts-3.2 speaks with cloned voices. */
  ExpressiveModelWorkspaces: withDefault(Schema.Array(Schema.NonEmptyString), []),
  /** A folder with a zero-shot model, which speaks with the voice of a sample; empty: none. */
  ZeroShotModelFolder: withDefault(Schema.String, ""),
  /** From this day on (UTC) the flow without a challenge is refused whatever version a caller is pinned to. */
  LegacyFlowSunset: withDefault(
    Schema.String.check(Schema.isPattern(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/u)),
    "2027-03-13"
  )
})
export interface VoiceCloning extends Schema.Schema.Type<typeof VoiceCloning> {}
