/**
 * `SpeechApi`, `SpeechSequencer`, `SpeechSynthesizer`, `Audio` and `VoiceCloning`: how speech is served, cut into
 * chunks, synthesized and encoded, and which voices can be cloned.
 */
import { Schema } from "effect"
import { AllowedOrigins, section, span, whole, withDefault } from "#base"

/** Vendors' names mapped to ours. */
const NameTable = Schema.Record(
  Schema.String.check(Schema.isBetweenLength(1, 128)),
  Schema.String.check(Schema.isBetweenLength(1, 128))
).check(Schema.isMaxProperties(256))

const openAiVoices = {
  alloy: "selma",
  ash: "roger",
  ballad: "arthur",
  coral: "claire",
  echo: "alan",
  fable: "oliver",
  nova: "nora",
  onyx: "marcus",
  sage: "emma",
  shimmer: "selma",
  verse: "henry",
  marin: "selma",
  cedar: "roger"
}

const openAiModels = {
  "tts-1": "tts-3.0",
  "tts-1-hd": "tts-3.0",
  "gpt-4o-mini-tts": "tts-3.0",
  "gpt-4o-mini-tts-2025-03-20": "tts-3.0",
  "gpt-4o-mini-tts-2025-12-15": "tts-3.0"
}

export const SpeechApi = section({
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1", "Where the API listens."),
  Port: withDefault(whole(0, 65_535), 7_403, "0: any free one."),
  AllowedOrigins: withDefault(
    AllowedOrigins,
    [],
    "Whose pages may call from a browser, `*` for any. None: a token in a page is anybody's."
  ),
  StreamsMax: withDefault(
    whole(1, 10_000),
    500,
    "Answers being spoken at once in one process; further callers are told to come back."
  ),
  ConcurrencyPerWorkspace: withDefault(whole(1, 10_000), 100, "Of one workspace, per process."),
  BeginningsAtOnce: withDefault(
    whole(1, 1_000),
    8,
    "Answers with one engine that are begun at once in one process, until each is heard; at most four times as many until each has sound in store, fewer where that takes long. Others wait for their turn."
  ),
  FirstSoundSecondsMax: withDefault(
    span(0.1, 60),
    2.5,
    "What would be heard later, at the pace that is measured, is refused with 429 within a second. Of an engine that is slow even alone, what would be heard later than four times as long as it takes then, 2.5 s at most. At most as many as this takes wait for their turn."
  ),
  LiveConnectionsMax: withDefault(
    whole(1, 10_000),
    1_000,
    "WebSockets of live speech at once in one process; further ones are told to come back."
  ),
  LiveConnectionsPerToken: withDefault(whole(1, 10_000), 100, "Of one token, per process."),
  VendorVoices: withDefault(
    NameTable,
    {},
    "Which voice of ours speaks for the id of one of ElevenLabs' or Cartesia's, on their routes. An id that is not here is one of ours."
  ),
  WindowMegabytes: withDefault(
    whole(1, 1_024),
    32,
    "Audio that may wait in one process for slow clients, over all streams."
  ),
  HeaderPrefixes: withDefault(
    Schema.Array(Schema.NonEmptyString),
    ["Service", "Speechify"],
    "Headers of our own are read and written under each of these names."
  ),
  TextNormalization: withDefault(
    Schema.Boolean,
    true,
    "Whether numbers, dates, signs and abbreviations are said as words where a request does not say so; OpenAI's route cannot."
  ),
  CacheMegabytes: withDefault(
    whole(0, 65_536),
    64,
    "Finished speech that one process keeps, so that the same request is not spoken again; 0: none. Speech of cloned voices is never kept."
  ),
  CacheMegabytesPerWorkspace: withDefault(
    whole(1, 65_536),
    16,
    "Of one workspace. An answer that takes more than a quarter of it is not kept."
  ),
  CacheMinutes: withDefault(span(0.01, 10_080), 60, "How long it is kept at most."),
  LexiconsPerWorkspace: withDefault(
    whole(0, 1_000),
    16,
    "Lexicons that a workspace may have, each of 1,000 words and 100,000 characters at most."
  ),
  JobsAtOnce: withDefault(
    whole(0, 64),
    1,
    "Books that one process has spoken at once, in the background of live speech; 0: none, others speak those that come in here."
  ),
  JobsPerWorkspace: withDefault(whole(0, 1_000), 20, "Unfinished jobs that a workspace may have."),
  OpenAiVoices: withDefault(
    NameTable,
    openAiVoices,
    "Which voice of ours speaks for each of OpenAI's, on its route. A name that is not here is the id of a voice."
  ),
  OpenAiModels: withDefault(
    NameTable,
    openAiModels,
    "Which model of ours stands for each of OpenAI's. A name that is not here is the id of a model."
  )
})

export const SpeechSequencer = section({
  SessionsMax: withDefault(whole(1, 10_000), 500, "Sessions at once in one process; a further one is refused as busy."),
  BeginningsAtOnce: withDefault(
    whole(1, 1_000),
    16,
    "Sessions with one engine that are begun at once in one process, until each is heard; at most four times as many until each has sound in store, fewer where that takes long. A further one is refused as busy."
  )
})

export const SpeechSynthesizer = section({
  Threads: withDefault(whole(1, 64), 1, "Engine threads per process.")
})

export const Audio = section({
  FfmpegPath: withDefault(Schema.NonEmptyString, "ffmpeg", "The encoder, by path or by its name on PATH."),
  LameProcessesMax: withDefault(
    whole(0, 64),
    4,
    "Processes in which libmp3lame encodes for all mp3 answers, one for each 16 of them, and at most one for each processor: each uses all processors, and takes its own answers along when it crashes. 0, or where that library is missing: an ffmpeg for each answer."
  ),
  EncodersMax: withDefault(
    whole(1, 10_000),
    400,
    "Encoders at once in one process; each holds up to 12 MB, or half a megabyte where they share a process."
  )
})

export const VoiceCloning = section({
  SampleSecondsMin: withDefault(span(1, 600), 10, "Less than this tells too little of a voice."),
  SampleSecondsMax: withDefault(span(1, 600), 30, "More than this tells no more of it."),
  ConsentSecondsMin: withDefault(span(1, 600), 5, "The phrase takes some eight seconds to read."),
  ConsentSecondsMax: withDefault(span(1, 600), 30, "Nobody takes longer to read it."),
  SilenceRatioMax: withDefault(
    span(0, 1),
    0.7,
    "Share of a recording that may be silence. Read with a pause of a second after each word, it is about a half."
  ),
  ClippingRatioMax: withDefault(
    span(0, 1),
    0.01,
    "Share of a recording's samples that may be cut off at full scale; speech that is clean has none."
  ),
  PhraseWordsMin: withDefault(
    whole(1, 5),
    4,
    "Of the five words of a phrase, how many must be heard in order. Of 48 recordings none had fewer than 4, and for 2,256 other challenges none had more than 2 (load-tests/README.md)."
  ),
  SpeakerDistanceMax: withDefault(
    span(0, 1_000),
    12,
    "How far sample and consent may lie apart, for the built-in check. One voice was 6.3 from itself at worst, in some noise; two voices were 16.1 apart at least (load-tests/README.md)."
  ),
  SpeakerModelFolder: withDefault(
    Schema.String,
    "",
    "A folder with a speaker embedding model, `model.onnx`; empty: the built-in check, which is weak."
  ),
  SpeakerModelDistanceMax: withDefault(
    span(0, 2),
    0.5,
    "How far they may lie apart for the model: one less the cosine of the angle between the embeddings."
  ),
  PocketsphinxPath: withDefault(
    Schema.NonEmptyString,
    "pocketsphinx_batch",
    "The recogniser of consents, by path or by its name on PATH."
  ),
  PocketsphinxModelFolder: withDefault(
    Schema.NonEmptyString,
    "/usr/share/pocketsphinx/model/en-us",
    "The folder with the recogniser's acoustic model and dictionary."
  ),
  VerificationsMax: withDefault(
    whole(1, 64),
    2,
    "Consents verified at once in one process; each takes about a second of a processor."
  ),
  ChallengesPerHour: withDefault(whole(1, 300), 30, "Of one workspace, over all processes."),
  ChallengeMinutes: withDefault(span(0.01, 1_440), 10, "How long a phrase may be read."),
  VoicesPerWorkspace: withDefault(whole(0, 10_000), 100, "Cloned voices that a workspace may have."),
  ExpressiveModelWorkspaces: withDefault(
    Schema.Array(Schema.NonEmptyString),
    [],
    "Workspaces for which tts-3.2 speaks with cloned voices."
  ),
  ZeroShotModelFolder: withDefault(
    Schema.String,
    "",
    "A folder with a zero-shot model, which speaks with the voice of a sample; empty: none."
  ),
  LegacyFlowSunset: withDefault(
    Schema.String.check(Schema.isPattern(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/u)),
    "2027-03-13",
    "From this day on (UTC) the flow without a challenge is refused whatever version a caller is pinned to."
  )
})
export interface VoiceCloning extends Schema.Schema.Type<typeof VoiceCloning> {}
