/**
 * The description of the speech API: its OpenAPI document with the headers of both directions, and its reference page.
 * Pure.
 */
import { refusalsOf } from "#base/http"
import {
  avatarBytesMax,
  cartesiaPath,
  consentRecordingBytesMax,
  dialogueTurnsMax,
  elevenLabsMultiPath,
  elevenLabsPath,
  fullNameBytesMax,
  jobLimits,
  lexiconsNamedMax,
  LiveClientMessage,
  liveCloseCodes,
  liveLimits,
  livePath,
  liveProtocol,
  LiveServerMessage,
  liveTokenPrefix,
  newestVersion,
  sampleBytesMax,
  speechErrorCodes,
  SpeechHttpApi,
  speechInputMax,
  voiceNameCharactersMax,
  voicesPageDefault,
  voicesPageMax
} from "#speech/api"
import {
  answerHeader,
  apiDocuments,
  type ApiParts,
  idempotencyKeyHeader,
  type LongList,
  replayed,
  requestHeader,
  requestIdHeader,
  requestIdOfAnswer,
  retryAfter,
  table
} from "#http"
import { audioFormats } from "#speech/audio"
import { speechModels } from "#speech/contract"
import { emotions, lexiconLimits, ssmlLimits } from "#speech"

export { speechClientsChapter } from "./judged-clients.ts"
export { speechAsyncApi } from "./live/async-api.ts"
export { speechApiMetrics } from "./metrics.ts"

export const speechDocuments = apiDocuments(() => ({
  api: SpeechHttpApi,
  parts: speechParts,
  product: "speech",
  title: "The speech API",
  introduction: [calls],
  chapters: [
    ...liveChapter(),
    ...formatsChapter(),
    ...modelsChapter(),
    ...voicesChapter,
    ...silenceChapter,
    ...marksChapter,
    ...captionsChapter,
    ...jobsChapter,
    ...ssmlChapter(),
    ...limitsChapter()
  ],
  errorCodes: speechErrorCodes,
  address: "$SPEECH",
  longList
}))

const whole = { type: "integer", minimum: 0 }

/** Headers that callers can send. */
const requestHeaders = {
  ...requestHeader(
    "Service-Version",
    "The version you are pinned to, a date; the newest without it. Also read as `Speechify-Version`.",
    { type: "string", format: "date", examples: [newestVersion] }
  ),
  ...requestHeader(
    "If-None-Match",
    "The `ETag` of an answer that you hold. If the answer would be the same, nothing is spoken: a GET gets 304, a POST 412, " +
      "whether the cache has it or not. A `*` is passed over."
  ),
  ...requestIdHeader,
  ...idempotencyKeyHeader(
    "a repeated request gets the first one's answer, for 24 hours. What failed with 429 or 5xx is done anew."
  )
}

const answerHeaders = {
  "Service-Request-Id": requestIdOfAnswer,
  "Speechify-Request-Id": answerHeader("The same id.", true),
  "X-Request-Id": answerHeader("The same id.", true),
  "Server-Timing": answerHeader(
    "What the time to the first byte went into, in milliseconds: `admit;dur=2.1, ...`. `first_sound` is the time from the request to the first sound.",
    true
  ),
  "Service-Audio-Content-Type": answerHeader("The media type of the audio inside the events.", true),
  "Speechify-Audio-Content-Type": answerHeader("The same media type.", true),
  "Retry-After": retryAfter,
  "RateLimit-Remaining-Calls": answerHeader("Only when the concurrency is used up: 0.", true, whole),
  "WWW-Authenticate": answerHeader("What a token must have.", true),
  "RateLimit-Limit": answerHeader("How many there are in an hour; only where that window decided.", false, whole),
  "RateLimit-Remaining": answerHeader("How many of them are left.", false, whole),
  "RateLimit-Reset": answerHeader("Seconds until the next one is free.", false, whole),
  "Idempotent-Replayed": replayed,
  ETag: answerHeader(
    "The same for the same request, as long as the engines, and its words in lexicons, are the same; not for cloned voices.",
    false
  ),
  Age: answerHeader("How many seconds ago it was spoken, when it comes from the cache.", false, whole),
  Deprecation: answerHeader("Since when the flow that was used is deprecated (RFC 9745).", false),
  Sunset: answerHeader("From when on it is refused (RFC 8594).", false),
  Link: answerHeader("Where to read of it, and what comes after it.", false),
  Location: answerHeader("Where the new voice or job is.", true)
}
type HeaderName = keyof typeof answerHeaders

/** Of the window that refused. */
const ofWindow: ReadonlyArray<HeaderName> = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]

/** Beside the request's id, which every answer has. */
const ofSuccess: Readonly<Record<string, ReadonlyArray<HeaderName>>> = {
  createSpeech: ["Server-Timing", "ETag", "Age"],
  createDialogue: ["Server-Timing", "ETag", "Age"],
  createCaptions: ["Server-Timing", "ETag", "Age"],
  streamSpeech: ["Server-Timing", "ETag", "Age"],
  getVoicePreview: ["ETag"],
  streamSpeechWithTimestamps: [
    "Server-Timing",
    "ETag",
    "Age",
    "Service-Audio-Content-Type",
    "Speechify-Audio-Content-Type"
  ],
  createConsentChallenge: ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Idempotent-Replayed"],
  createJob: ["Location", "Idempotent-Replayed"],
  createVoice: ["Location", "Deprecation", "Sunset", "Link", "Idempotent-Replayed"]
}

const speechParts: ApiParts = {
  envelope: "ErrorEnvelope",
  requests: requestHeaders,
  answers: answerHeaders,
  takenBy: (endpoint) => {
    if (endpoint.middlewares.size === 0) return []
    const isRepeatable = refusalsOf(endpoint).some(({ codes }) => codes.includes("idempotency_conflict"))
    const isTagged = ofSuccess[endpoint.identifier]?.includes("ETag") === true
    return [
      "Service-Version",
      "X-Request-Id",
      ...(isRepeatable ? (["Idempotency-Key"] as const) : []),
      ...(isTagged ? (["If-None-Match"] as const) : [])
    ]
  },
  headersWith: (status, endpoint) => {
    // A refusal made before the route is known has only the listener's own header.
    if (endpoint === undefined) return ["X-Request-Id"]
    const ofRoute = status < 300 ? (ofSuccess[endpoint.identifier] ?? []) : []
    return [
      "Service-Request-Id",
      "Speechify-Request-Id",
      "X-Request-Id",
      ...(status === 429 ? ofWindow : []),
      ...ofRoute
    ]
  }
}

const calls =
  "Calls carry `Authorization: Bearer <token>`; `./starling token make --role member` makes a token. The examples take it from " +
  "`$TOKEN`, and the address from `$SPEECH`. Headers named `Service-*` are also read and written as `Speechify-*`. " +
  `\`Service-Version\` pins a version; today's is ${newestVersion}. A field that is null in a JSON body is as if it were not there.`

const liveChapter = () => [
  "## Live",
  `\`GET ${livePath}\` is a WebSocket that takes text while it is written, token by token, and speaks each clause as soon as it ` +
    "is known to end. Each message is one text frame of JSON. A context is one voice, one format and one timeline: the places " +
    "of its marks are those in all of its text, their times those in all of its audio. A connection has several at once.",
  "The token needs the scope `audio:stream`. It comes as on every route, or, from a page, which cannot send headers, as a " +
    `subprotocol: \`new WebSocket(url, ["${liveProtocol}", "${liveTokenPrefix}" + token])\`. Pages may connect from ` +
    "`SpeechApi.AllowedOrigins` alone. What is refused before the handshake is refused as on every route.",
  "A clause ends at the end of a sentence, the first one also at a comma; abbreviations and numbers end none. What is no " +
    "whole clause for `max_wait_ms` is spoken up to its last word. Audio is in base64, because one kind of frame is simpler to " +
    "read for every client; a binary frame closes the connection. A message that is not taken is answered with `error`, and " +
    "everything else goes on. When a role behind dies, the speech goes on from the first missing sample. All messages and their " +
    "shapes are in speech-asyncapi.json among the documents.",
  ["```js", ...liveExample, "```"].join("\n"),
  "With `ssml` a context takes the elements of SSML, with a root `<speak>` or without one, cut into pieces anywhere. Text is spoken " +
    "clause by clause as before; an element is spoken once it has ended, and has 4,000 characters at most, a tag 1,000. `p`, `s` and " +
    "`speak` hold nothing up: they end sentences, and their attributes are not followed. A piece that cannot be SSML (`& `, a wrong " +
    "closing tag) is refused with the place of its fault, is not taken, and the context goes on; so is a flush or an end within an " +
    "element or a tag. An element or attribute that is not understood ends the context. A `break` alone between two flushes is as much " +
    "silence. Without `ssml` a clause that begins with `<speak>` is refused, and any other tag is read as it is written.",
  "Words of a context are never told to come again as a request is: they wait their turn for ten seconds, and those that follow while " +
    "earlier ones are heard, or within five seconds, go before all that have not begun.",
  table(["message", "from", "says"], liveMessages()),
  table(
    ["close code", "when"],
    Object.entries(liveCloseCodes).map(([code, when]) => [code, when])
  ),
  "### Clients of ElevenLabs and Cartesia",
  `\`${elevenLabsPath}\`, \`${elevenLabsMultiPath}\` and \`${cartesiaPath}\` take and send the live messages of those vendors, and ` +
    "[further](#elevenlabs-speak-a-text) [routes](#cartesia-speak-a-text) their HTTP, so that their clients, and pipecat's and LiveKit's " +
    "plugins for them, need only this address and a token in place of the key (`xi-api-key`, `X-API-Key`, a bearer token, or live " +
    "`api_key` in the query, where logs may hold it). A voice is the id of one of ours, or one that `SpeechApi.VendorVoices` maps; " +
    "`eleven_*` and `sonic*` stand for our default model. Followed are speed, language, normalization and the times of characters or " +
    "words; live also text, flush, end and cancel. Other fields are taken and change nothing.",
  "Formats are those of ElevenLabs and Cartesia that we have: PCM, also as floats, G.711, mp3, Opus, and by HTTP WAV of them. Live they " +
    "are those whose parts can be joined. ElevenLabs' `enable_ssml_parsing=true` is followed, as `ssml` above; by HTTP its `<break>` and " +
    "`<phoneme>` always are. Cartesia's tags are followed however they are cut over messages: `<break>` and `<spell>`, by HTTP also " +
    "`<speed>` and `<volume>`, which live are passed over, as `<emotion>` is everywhere. A Cartesia context of no text is `done` at once.",
  "Refusals of these routes by HTTP have the vendor's shape. ElevenLabs' have its status codes: 422 lists faults by their place in the " +
    "request, and a token without the scope gets 401. Cartesia's have ours. Which clients were run, and what they did, is in " +
    "[compatibility.md](compatibility.md#clients-of-speech)."
]

const liveExample = [
  `const socket = new WebSocket(process.env.SPEECH.replace("http", "ws") + "${livePath}", ["${liveProtocol}", "${liveTokenPrefix}" + process.env.TOKEN])`,
  'const send = (message) => socket.send(JSON.stringify({ context_id: "a", ...message }))',
  "socket.onopen = () => {",
  '  send({ type: "context.start", voice_id: "selma" })',
  '  for (const text of ["Good ", "morning. ", "How ", "are ", "you?"]) send({ type: "text", text })',
  '  send({ type: "end" })',
  "}",
  "socket.onmessage = ({ data }) => {",
  "  const message = JSON.parse(data)",
  '  if (message.type === "marks") for (const { start_time, value } of message.speech_marks) console.log(start_time, value)',
  '  if (message.type === "done") socket.close()',
  "}"
]

const liveMessages = () =>
  (["you", "us"] as const).flatMap((side) =>
    (side === "you" ? LiveClientMessage : LiveServerMessage).members.map(({ ast, fields }) => {
      const names = Object.keys(fields).filter((name) => name !== "type")
      const description = ast.annotations?.["description"]
      return [
        `\`${fields.type.literal}\` ${names.map((name) => `\`${name}\``).join(" ")}`.trimEnd(),
        side,
        typeof description === "string" ? description : ""
      ]
    })
  )

const formatsChapter = () => [
  "## Formats",
  "`output_format` goes before `audio_format` and `Accept`. Up to 24 kHz mp3 is MPEG-2, which ends at 160 kbit/s, so " +
    "`_192` is encoded and reported as `_160`; bit rates from 160 are for the models of version 3. Opus comes in Ogg, and " +
    "without a bit rate has 48 kbit/s. A streamed FLAC does not announce its length.",
  table(
    ["output_format", "Content-Type", "audio_format", "streams"],
    audioFormats.map((format) => [
      `\`${format.name}\``,
      format.mediaType,
      format.audioFormat,
      format.isStreamable ? "yes" : "no"
    ])
  )
]

const modelsChapter = () => [
  "## Models",
  table(
    ["model", "also called", "speaks", "routes", "notes"],
    speechModels.map((model) => [
      `\`${model.id}\``,
      model.aliases.map((alias) => `\`${alias}\``).join(" "),
      model.languages.join(" "),
      model.routes.map((route) => `\`${route}\``).join(" "),
      [model.isDefault && "**default**", model.isRecommended && "recommended", model.isDeprecated && "deprecated"]
        .filter((note) => note !== false)
        .concat(model.description)
        .join("; ")
    ])
  ),
  "Without `language` a voice speaks its own locale. A language that the model or the voice does not have is refused. " +
    "Words in a script that the voice cannot read, and those of an element `lang`, go to another voice, whatever the model: see " +
    "[pronunciation.md](pronunciation.md#other-languages)."
]

const voicesChapter = [
  "## Voices",
  "English is best understood in the four voices of flite, which have no other language and read ASCII letters. A " +
    "recogniser (pocketsphinx with its own model of English, 98 words) got wrong, of a hundred words: `selma` 11, " +
    "`roger` 22, `alan` 23, `kal` 32. The English voices of espeak-ng, 79 to 92, speak every language of a model and " +
    "begin sooner. `selma` is the voice of the examples and, without `--voice`, of `./starling say`.",
  "The same request gets the same bytes and marks in every format, also in a voice that espeak-ng adapts to a sample, " +
    "until the host has another release of an engine. For this the voices of espeak-ng are spoken without flutter of " +
    "the pitch and without breath."
]

const silenceChapter = [
  "## Nothing to say",
  "A text in which nothing is written (white space, inaudible characters, markup without text) is refused with 400 on every " +
    "route; live, it ends without audio. A text of signs that nobody says, as `...`, or `🎉` in a voice that has no name for it, " +
    "is answered with a tenth of a second of silence: a file that opens, in every format, without marks. So is such a turn of a " +
    "dialogue. Neither is billed."
]

const marksChapter = [
  "## Kinds of marks",
  "`options.marks` names the kinds; `word` alone without it. Words come in `speech_marks` as ever. The others come in `marks`, a list in " +
    "order of time: of the whole answer, of the events of the stream, and of the live messages, where they come as soon as they are final.",
  table(
    ["kind", "value", "when"],
    [
      ["`sentence`", "the text", "from its first word to its last; live, of what was spoken at once"],
      ["`character`", "as readers count them; in SSML an entity is one", "the word's time, divided evenly"],
      ["`phoneme`", "the sound in IPA, without stress; its place is that of its word", "as the voice spoke it"],
      [
        "`viseme`",
        "0 to 21, as SAPI 5 (SPVISEMES) and Azure number the shapes of the mouth",
        "its phoneme's time, of which a diphthong without a shape of its own has two halves"
      ]
    ]
  ),
  "Between two phonemes that do not touch there is a pause: the mouth is at rest, which is viseme 0. Phonemes are told by espeak-ng, " +
    "flite, and the models that read phonemes, as that of `heart` and Kokoro. With a voice of an operator's program or a zero-shot model a request " +
    "for `phoneme` or `viseme` is refused. A model that reads letters leaves them out, and so do words that another voice speaks whose engine tells none."
]

const jobsChapter = [
  "## Audiobooks",
  "`POST /v1/audio/jobs` takes a whole book, as text, Markdown or HTML, and answers 202 with its chapters. It is spoken in the background: live " +
    "answers come first, and a book goes on with what they leave of the fleet. `GET` of the job says how far it is, and its `/events` tell it " +
    "as it goes on. Each chapter has its files as soon as all of it is spoken: the audio, as m4b (AAC, 64 kbit/s) or mp3, with the titles and a mark for each " +
    "heading within the chapter; its captions; and the marks of its words, by their places in the input as it was sent. A job survives the " +
    "process that works on it: another goes on with the next passage, of some 4,000 characters.",
  "Job and files are kept for seven days after the last change, or until `DELETE`. The characters that are read of the input are billed as they are " +
    "spoken. A workspace has `SpeechApi.JobsPerWorkspace` unfinished jobs at most. A voice that is removed meanwhile, or a passage that no engine has spoken " +
    "in ten attempts over half an hour, ends the job as `failed` with `error`; the chapters that were finished keep their files.",
  `A book has ${jobLimits.charactersMax.toLocaleString("en")} characters and ${jobLimits.chaptersMax} chapters at most, and ${jobLimits.speakersMax} speakers. ` +
    "[What is read of it](audiobooks.md), and where its chapters begin, follows its headings. Words in a script that no voice reads are passed over. SSML is not read: `<speak>` is a word like others."
]

const captionsChapter = [
  "## Captions",
  "`POST /v1/audio/captions` takes the body that the audio is asked for with, a text, SSML or the turns of a dialogue, and " +
    "`format`. The same request is always spoken the same, so captions fit audio that was made earlier from the same body, on " +
    "whichever route and in whichever format; the `ETag` of captions is that of the whole answer with the same body, and changes " +
    "with it, as when a lexicon changes. Audio that is still in the cache is not spoken again, and captions asked for first put " +
    "it there. They are billed as the speech is, as every answer from the cache. Only a cloned voice of a zero-shot model speaks " +
    "differently each time: its captions have to be cut from the marks that came with the audio.",
  "A caption is one line or two of at most 42 characters, of which a wide one, as of Chinese, counts as two. It breaks where sentences and clauses do, " +
    "else between words, and shows the text as it was written, without markup. It begins with its first word, and stays until the next one if it " +
    "takes so long to be read at 17 characters a second. Above 20 it comes only where the speech itself is faster. In a " +
    "dialogue WebVTT names the voice of each cue, `<v Selma>`, and SubRip says who speaks where that changes, `SELMA:`. " +
    "A text with nothing to say has no captions."
]

const ssmlChapter = () => [
  "## SSML",
  "An input that begins with `<speak>` is SSML: `p`, `s`, `break`, `prosody` (rate, pitch, range, volume), `emphasis`, " +
    '`sub`, `say-as`, and `<service:style emotion="...">` with one of ' +
    `${Object.keys(emotions).join(", ")}. \`phoneme\` says how a word sounds, in IPA or X-SAMPA: see ` +
    "[pronunciation.md](pronunciation.md). `lang` gives its words to a voice of that language. `voice` and `mark` are read " +
    "over: their words are spoken in the voice of the request, also where `<voice name>` names another; for several voices " +
    "there is the dialogue route. The words of `token` and `w` are spoken as any other, `meta` and `metadata` are not. A " +
    "document may begin with an XML declaration and name SSML's namespace, with a prefix or without one. Everything else is " +
    "refused with its place: also a document type, or a `<SPEAK>` in other letters."
]

const limitsChapter = () => ["## Limits", table(["what", "at most"], limits)]

const count = (value: number) => value.toLocaleString("en-US")

const megabytes = (bytes: number) => `${bytes / 1_000_000} MB`

const liveTexts = [liveLimits.textMax, liveLimits.contextTextMax, liveLimits.pendingTextMax].map(count).join(", ")

const limits: ReadonlyArray<ReadonlyArray<string>> = [
  ["input of a whole answer, in UTF-16 units with tags", count(speechInputMax.answer)],
  ["input of a stream, and of all turns of a dialogue", count(speechInputMax.stream)],
  ["turns of a dialogue", count(dialogueTurnsMax)],
  ["text of one live message, of a context, and of one that waits to be spoken", liveTexts],
  [
    "contexts of a live connection, and a message",
    `${liveLimits.contextsMax}, ${liveLimits.messageBytesMax / 1_024} KiB`
  ],
  [
    "live messages a second, and at once after a silence",
    `${liveLimits.messagesPerSecondMax}, ${count(liveLimits.messagesBurstMax)}`
  ],
  [
    "live connections",
    "`SpeechApi.LiveConnectionsMax`, of one token `SpeechApi.LiveConnectionsPerToken`, for each process"
  ],
  ["voices per page", `${voicesPageMax}; ${voicesPageDefault} for a cursor without a limit`],
  [
    "a lexicon, its words, and each word, alias and phonemes",
    `${count(lexiconLimits.charactersMax)} characters, ${count(lexiconLimits.entriesMax)}, ${lexiconLimits.graphemeMax}, ` +
      `${lexiconLimits.aliasMax} and ${lexiconLimits.phonemesMax} characters`
  ],
  ["lexicons of a workspace, of a request", `\`SpeechApi.LexiconsPerWorkspace\`, ${lexiconsNamedMax}`],
  ["characters that lexicons add to a text", count(speechInputMax.stream)],
  ["SSML elements, and how deep they nest", `${count(ssmlLimits.elementsMax)}, ${ssmlLimits.depthMax}`],
  [
    "silence of one break, and of all",
    `${ssmlLimits.breakMillisecondsMax / 1_000} s, ${ssmlLimits.silenceMillisecondsMax / 60_000} min`
  ],
  ["answers of one workspace at once", "`SpeechApi.ConcurrencyPerWorkspace`, for each process"],
  [
    "sample, consent recording, picture",
    `${megabytes(sampleBytesMax)}, ${megabytes(consentRecordingBytesMax)}, ${megabytes(avatarBytesMax)}`
  ],
  ["length of sample and consent recording", "10 to 30 s, 5 to 30 s; `VoiceCloning` in the configuration"],
  ["a speaker's full name, a voice's name", `${fullNameBytesMax} bytes of UTF-8, ${voiceNameCharactersMax} characters`],
  [
    "consent challenges of a workspace in an hour, and how long each lasts",
    "`VoiceCloning.ChallengesPerHour`, `VoiceCloning.ChallengeMinutes`"
  ],
  ["cloned voices of a workspace", "`VoiceCloning.VoicesPerWorkspace`"],
  ["one line of an event stream", "64 KiB"]
]

// A longer list gets its own section.
const valuesMax = 8

const longList: LongList = (values) => {
  if (values.length <= valuesMax) return undefined
  return values.includes("tts-3.0") ? "[model](#models)" : "[format](#formats)"
}
