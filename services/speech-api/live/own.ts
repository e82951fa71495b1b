/** Our own live messages, to and from what the connection knows. Pure. */
import { Result, Schema } from "effect"
import type { OtherMark } from "#speech/contract"
import { LiveClientMessage, liveLimits, type LiveServerMessage } from "#speech/api"
import { decodeMessage, type HttpCall, type WireError } from "#http"
import type { LiveCommand, LiveDialect, LiveEvent } from "./dialect.ts"
import type { LiveContext } from "./LiveContext.ts"

const decode = decodeMessage(Schema.toCodecJson(LiveClientMessage))

export const ownDialect = ({
  requestId
}: Pick<HttpCall["Service"], "requestId">): Result.Result<LiveDialect, WireError> =>
  Result.succeed({
    read: (message) => Result.map(decode(message), (known) => [commandOf(known)]),
    write: (context, event) => messagesOf(context, event, requestId),
    refuse: (error, contextId) => errorMessage(error, { contextId, isFinal: false, requestId })
  })

const commandOf = (message: LiveClientMessage): LiveCommand => {
  switch (message.type) {
    case "context.start": {
      const { context_id: contextId, voice_id: voiceId, max_wait_ms: maxWaitMs, type: _, ...order } = message
      return {
        _tag: "Start",
        contextId,
        order: { output_format: "pcm_24000", ...order, voiceId, maxWaitMs: maxWaitMs ?? liveLimits.maxWaitMsDefault }
      }
    }
    case "text":
      return { _tag: "Text", contextId: message.context_id, text: message.text }
    case "flush":
      return { _tag: "Flush", contextId: message.context_id, flushId: message.flush_id }
    case "cancel":
      return { _tag: "Cancel", contextId: message.context_id, playedMs: message.played_ms }
    case "end":
      return { _tag: "End", contextId: message.context_id }
    case "keep_alive":
      return { _tag: "KeepAlive" }
    case "close":
      return { _tag: "Close" }
  }
}

const messagesOf = (context: LiveContext, event: LiveEvent, requestId: string): ReadonlyArray<LiveServerMessage> => {
  const {
    audioMs: audio_duration_ms,
    billed: billable_characters_count,
    id: context_id,
    plan,
    spoken: text_end
  } = context
  switch (event._tag) {
    case "Started": {
      const { format } = plan
      return [{ type: "started", context_id, output_format: format.name, media_type: format.mediaType }]
    }
    case "Audio": {
      const { bytes, marks, others } = event
      const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")
      return [
        ...(marks.length + others.length === 0
          ? []
          : [{ type: "marks", context_id, speech_marks: marks, ...named(others) } as const]),
        ...(audio === "" ? [] : [{ type: "audio", context_id, audio } as const])
      ]
    }
    case "Flushed": {
      const { flushId } = event
      const named = flushId === undefined ? {} : { flush_id: flushId }
      return [{ type: "flushed", context_id, ...named, text_end, audio_duration_ms }]
    }
    case "Done":
      return [
        { type: "done", context_id, reason: event.reason, text_end, billable_characters_count, audio_duration_ms }
      ]
    case "Cancelled":
      return [
        {
          type: "cancelled",
          context_id,
          text_end,
          speech_marks: event.marks,
          ...named(event.others),
          billable_characters_count
        }
      ]
    case "Failed":
      return [errorMessage(event.error, { contextId: context_id, isFinal: true, requestId })]
  }
}

const named = (marks: ReadonlyArray<OtherMark>) => (marks.length === 0 ? {} : { marks })

interface ErrorOptions {
  readonly contextId: string | undefined
  readonly isFinal: boolean
  readonly requestId: string
}

const errorMessage = (
  { code, details, fields, message }: WireError,
  { contextId, isFinal, requestId }: ErrorOptions
): LiveServerMessage => ({
  type: "error",
  ...(contextId === undefined ? {} : { context_id: contextId }),
  is_final: isFinal,
  error: {
    code,
    message,
    ...(fields === undefined ? {} : { fields }),
    ...(details === undefined ? {} : { details })
  },
  request_id: requestId
})
