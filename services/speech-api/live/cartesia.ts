/**
 * The live messages of Cartesia: contexts that a first request starts and one without `continue` ends. Pure, except for
 * counts.
 */
import { Result, Schema } from "effect"
import type { WordMark } from "#speech/contract"
import { CartesiaCancel, CartesiaRequest, liveLimits } from "#speech/api"
import { decodeMessage, type HttpCall, type WireError } from "#http"
import { cartesiaChunks, cartesiaDone, cartesiaFault, cartesiaOrder, floatsOf } from "../vendors/cartesia.ts"
import { type LiveMarkup, liveMarkup, noMarkup, unescaped } from "../vendors/markup.ts"
import type { VoiceNames } from "../vendors/names.ts"
import type { ContextOrder, IsOpen, LiveCommand, LiveDialect, LiveEvent } from "./dialect.ts"
import type { LiveContext } from "./LiveContext.ts"

const decodeCancel = decodeMessage(Schema.toCodecJson(CartesiaCancel), { nullIsAbsent: true })
const decodeRequest = decodeMessage(Schema.toCodecJson(CartesiaRequest), { nullIsAbsent: true })

/** What the first request of a context asked for. */
interface Asked {
  readonly isTimed: boolean
  readonly isFloat: boolean
  flushes: number
  markup: LiveMarkup
}

const maxWaitMsMin = 50

export const cartesiaDialect = (
  { requestId }: Pick<HttpCall["Service"], "requestId">,
  voices: VoiceNames
): Result.Result<LiveDialect, WireError> => {
  const asked = new Map<string, Asked>()
  return Result.succeed({
    read: (message, isOpen) => {
      if (isCancel(message)) {
        return Result.map(decodeCancel(message), ({ context_id: contextId }) =>
          isOpen(contextId) ? [{ _tag: "Cancel", contextId } as const] : []
        )
      }
      return Result.flatMap(decodeRequest(message), (request) => commandsOf(request, { asked, isOpen, voices }))
    },
    write: (context, event) => messagesOf(context, event, { asked, requestId }),
    refuse: (error, contextId) => errorOf(error, contextId ?? "", requestId)
  })
}

const isCancel = (message: unknown) =>
  typeof message === "object" && message !== null && (message as { readonly cancel?: unknown }).cancel === true

interface Reading {
  readonly asked: Map<string, Asked>
  readonly isOpen: IsOpen
  readonly voices: VoiceNames
}

const commandsOf = (
  request: CartesiaRequest,
  { asked, isOpen, voices }: Reading
): Result.Result<ReadonlyArray<LiveCommand>, WireError> => {
  const { context_id: contextId, continue: continues = false, flush = false, transcript } = request
  const begins = !isOpen(contextId)
  // Nothing is left to say, and its client waits to hear that.
  if (begins && transcript === "") {
    return Result.succeed(continues ? [] : [{ _tag: "Reply", message: cartesiaDone(contextId) }])
  }
  return Result.map(begins ? orderOf(request, voices) : Result.succeed(undefined), (order) => {
    const own = (order === undefined ? asked.get(contextId) : undefined) ?? askedBy(request)
    asked.set(contextId, own)
    if (flush) own.flushes += 1
    // Each transcript is complete then.
    const isFlush = flush || request.max_buffer_delay_ms === 0
    const { markup, ssml } = liveMarkup(transcript, own.markup, isFlush || !continues)
    own.markup = markup
    const flushId = flush ? { flushId: String(own.flushes) } : {}
    return [
      ...(order === undefined ? [] : [{ _tag: "Start", contextId, order } as const]),
      ...(ssml === "" ? [] : [{ _tag: "Text", contextId, text: ssml } as const]),
      ...(isFlush ? [{ _tag: "Flush", contextId, ...flushId } as const] : []),
      ...(continues ? [] : [{ _tag: "End", contextId } as const])
    ]
  })
}

const askedBy = ({ add_timestamps: isTimed = false, output_format }: CartesiaRequest): Asked => ({
  isTimed,
  isFloat: output_format.encoding === "pcm_f32le",
  flushes: 0,
  markup: noMarkup
})

const orderOf = (request: CartesiaRequest, voices: VoiceNames): Result.Result<ContextOrder, WireError> =>
  Result.map(cartesiaOrder(request, voices), (order) => ({
    ...order,
    maxWaitMs: Math.max(maxWaitMsMin, request.max_buffer_delay_ms ?? liveLimits.maxWaitMsDefault),
    ssml: true
  }))

interface Writing {
  readonly asked: Map<string, Asked>
  readonly requestId: string
}

const messagesOf = ({ id }: LiveContext, event: LiveEvent, { asked, requestId }: Writing): ReadonlyArray<object> => {
  const own = asked.get(id)
  switch (event._tag) {
    case "Started":
      return []
    case "Audio": {
      const bytes = own?.isFloat === true ? floatsOf(event.bytes) : event.bytes
      const marks = own?.isTimed === true ? event.marks.map(asSent) : []
      return cartesiaChunks({ contextId: id, bytes, marks })
    }
    case "Flushed":
      return event.flushId === undefined
        ? []
        : [
            {
              type: "flush_done",
              flush_done: true,
              flush_id: Number(event.flushId),
              context_id: id,
              done: false,
              status_code: 206
            }
          ]
    case "Done":
    case "Cancelled":
      asked.delete(id)
      return [cartesiaDone(id)]
    case "Failed":
      asked.delete(id)
      return [errorOf(event.error, id, requestId)]
  }
}

const asSent = (mark: WordMark) => ({ ...mark, value: unescaped(mark.value) })

const errorOf = (error: WireError, contextId: string, requestId: string) => {
  const fault = cartesiaFault(error, requestId)
  return { type: "error", context_id: contextId, done: true, error: fault.message, ...fault }
}
