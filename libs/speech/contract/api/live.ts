/**
 * Speech over a WebSocket while its text is being written: the messages of both sides, the limits, and the codes with
 * which the server closes. Each message is one text frame of JSON.
 */
import { Schema } from "effect"
import { Count, describe, text } from "#base"
import { MarkTime, OtherMark, WordMark } from "../marks.ts"
import { Base64, Name } from "./fields.ts"
import { StreamRequest } from "./speech.ts"

export const livePath = "/v1/audio/live"

/** The subprotocol of our own messages; a browser adds its token as a second one, after `liveTokenPrefix`. */
export const liveProtocol = "starling.speech.v1"
export const liveTokenPrefix = "bearer."

export const liveLimits = {
  /** A text of ten thousand characters, each of them escaped. */
  messageBytesMax: 65_536,
  /** UTF-16 units of one message. */
  textMax: 10_000,
  /** UTF-16 units of a context that are not spoken yet; as long as a stream's entire input. */
  pendingTextMax: 20_000,
  /** UTF-16 units of a context: an hour of speech. Its marks are kept for a cancel. */
  contextTextMax: 50_000,
  /** A conversation has one; an app that prepares answers has some more. */
  contextsMax: 8,
  /** Over all contexts of a connection: a model writes some hundred tokens a second at best. */
  messagesPerSecondMax: 500,
  /** Sent at once after a silence. */
  messagesBurstMax: 2_000,
  /** Without any message, and with nothing to speak. */
  idleSecondsMax: 60,
  maxWaitMsDefault: 3_000,
  maxWaitMsMax: 10_000
} as const

/** The codes of the close frames. Those below 4000 are from RFC 6455. */
export const liveCloseCodes = {
  1000: "You closed it, or asked for it.",
  1001: "The process ends; connect again.",
  1003: "A binary message; all messages are text.",
  1006: "No close frame: you answered no ping, or took no bytes for a minute.",
  1007: "A message is not UTF-8.",
  1008: "More messages than `messagesPerSecondMax`, or the token is no longer valid.",
  1009: "A message is larger than `messageBytesMax`.",
  1011: "A fault of ours.",
  4408: "Nothing was sent or spoken for `idleSecondsMax`; `keep_alive` prevents it."
} as const

const ContextId = Name.pipe(describe("Names the context on this connection; an id is free again after its end."))

const { voice_id, language, lexicons, model, options, speed } = StreamRequest.fields

export const ContextStart = Schema.Struct({
  type: Schema.Literal("context.start"),
  context_id: ContextId,
  voice_id,
  language,
  model,
  options,
  lexicons,
  speed,
  output_format: Schema.optionalKey(Name).pipe(
    describe("pcm_24000 without it. Any of pcm, ulaw, alaw, mp3 and aac, whose bytes can be joined.")
  ),
  ssml: Schema.optionalKey(Schema.Boolean).pipe(
    describe(
      "Whether the text has elements of SSML; false without it. A root `<speak>` may stand around them, tags may come in " +
        "any pieces, and an element is spoken when it has ended. A flush or an end within one is refused."
    )
  ),
  max_wait_ms: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 50, maximum: liveLimits.maxWaitMsMax }))
  ).pipe(describe("Text that is no whole clause for so long is spoken as it is; 3000 without it."))
}).annotate({ identifier: "ContextStart", description: "Begins a context: one voice, one format, one timeline." })

export const TextMessage = Schema.Struct({
  type: Schema.Literal("text"),
  context_id: ContextId,
  text: text(liveLimits.textMax).pipe(
    describe("The next piece of the text, as small as a token. SSML is refused without `ssml`.")
  )
}).annotate({ identifier: "TextMessage", description: "Goes on with the text of a context." })

export const FlushMessage = Schema.Struct({
  type: Schema.Literal("flush"),
  context_id: ContextId,
  flush_id: Schema.optionalKey(Name).pipe(describe("Comes back in `flushed`."))
}).annotate({ identifier: "FlushMessage", description: "Speaks what is there, and answers with `flushed`." })

export const CancelMessage = Schema.Struct({
  type: Schema.Literal("cancel"),
  context_id: ContextId,
  played_ms: Schema.optionalKey(MarkTime).pipe(
    describe("How much of the context's audio was played; `cancelled` then names the words that were heard.")
  )
}).annotate({ identifier: "CancelMessage", description: "Stops a context at once, and forgets what it has not sent." })

export const EndMessage = Schema.Struct({
  type: Schema.Literal("end"),
  context_id: ContextId
}).annotate({ identifier: "EndMessage", description: "No more text comes: speaks the rest, then answers `done`." })

export const KeepAliveMessage = Schema.Struct({
  type: Schema.Literal("keep_alive")
}).annotate({ identifier: "KeepAliveMessage", description: "Keeps an idle connection open." })

export const CloseMessage = Schema.Struct({
  type: Schema.Literal("close")
}).annotate({ identifier: "CloseMessage", description: "Ends every context as `end` does, then closes with 1000." })

export const LiveClientMessage = Schema.Union(
  [ContextStart, TextMessage, FlushMessage, CancelMessage, EndMessage, KeepAliveMessage, CloseMessage],
  { mode: "oneOf" }
).annotate({ identifier: "LiveClientMessage" })
export type LiveClientMessage = Schema.Schema.Type<typeof LiveClientMessage>

const inContext = { context_id: Schema.String }
const durationMs = MarkTime.pipe(describe("Length of the context's audio so far, once it is decoded."))
const textEnd = Count.pipe(describe("Up to where in the context's text, in UTF-16 units."))
const billed = Count.pipe(describe("UTF-16 units of the context's text that were spoken."))
const marks = Schema.Array(WordMark).pipe(
  describe("Places are those in the context's whole text, times those in its whole audio.")
)

const others = Schema.optionalKey(Schema.Array(OtherMark)).pipe(
  describe("Likewise, those of other kinds that `options.marks` of the context asked for.")
)

export const StartedMessage = Schema.Struct({
  type: Schema.Literal("started"),
  ...inContext,
  output_format: Schema.String,
  media_type: Schema.String
}).annotate({ identifier: "StartedMessage", description: "The context is open." })

export const MarksMessage = Schema.Struct({
  type: Schema.Literal("marks"),
  ...inContext,
  speech_marks: marks,
  marks: others
}).annotate({ identifier: "MarksMessage", description: "Words that became final, as on the stream with timestamps." })

export const AudioMessage = Schema.Struct({
  type: Schema.Literal("audio"),
  ...inContext,
  audio: Base64.pipe(describe("The next bytes of the context's audio, in base64."))
}).annotate({ identifier: "AudioMessage", description: "Audio as it is made." })

export const FlushedMessage = Schema.Struct({
  type: Schema.Literal("flushed"),
  ...inContext,
  flush_id: Schema.optionalKey(Schema.String),
  text_end: textEnd,
  audio_duration_ms: durationMs
}).annotate({ identifier: "FlushedMessage", description: "All audio of the text before the flush is sent." })

export const DoneMessage = Schema.Struct({
  type: Schema.Literal("done"),
  ...inContext,
  reason: Schema.Literals(["ended", "shutdown"]).pipe(
    describe("`shutdown`: the process ends, and spoke what it had; go on elsewhere from `text_end`.")
  ),
  text_end: textEnd,
  billable_characters_count: billed,
  audio_duration_ms: durationMs
}).annotate({ identifier: "DoneMessage", description: "The last message of a context that was spoken to its end." })

export const CancelledMessage = Schema.Struct({
  type: Schema.Literal("cancelled"),
  ...inContext,
  text_end: textEnd,
  speech_marks: marks,
  marks: others,
  billable_characters_count: billed
}).annotate({
  identifier: "CancelledMessage",
  description:
    "The last message of a cancelled context. The marks are those of the words that began before `played_ms`; none of " +
    "a cancel without it."
})

export const ErrorMessage = Schema.Struct({
  type: Schema.Literal("error"),
  context_id: Schema.optionalKey(Schema.String).pipe(describe("Of a context that it concerns.")),
  is_final: Schema.Boolean.pipe(
    describe("Whether it ends that context. Otherwise the message was not taken, no more.")
  ),
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)).pipe(describe("Every fault by its path.")),
    details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  }),
  request_id: Schema.String
}).annotate({ identifier: "ErrorMessage", description: "A message was not taken, or a context broke off." })

export const LiveServerMessage = Schema.Union(
  [StartedMessage, MarksMessage, AudioMessage, FlushedMessage, DoneMessage, CancelledMessage, ErrorMessage],
  { mode: "oneOf" }
).annotate({ identifier: "LiveServerMessage" })
export type LiveServerMessage = Schema.Schema.Type<typeof LiveServerMessage>
