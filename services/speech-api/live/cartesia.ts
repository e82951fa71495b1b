/**
 * The live messages of Cartesia: contexts that a first request starts and one without `continue` ends. Pure, except for
 * counts.
 */
import { Result, Schema } from "effect"
import { CartesiaCancel, CartesiaRequest, liveLimits, livePath } from "#speech/api"
import { decodeMessage, type HttpCall, validationFailed, type WireError } from "#http"
import { type ContextOrder, type IsOpen, type LiveCommand, type LiveDialect, type LiveEvent } from "./dialect.ts"
import type { LiveContext } from "./LiveContext.ts"
import { ownModel, ownNormalization, ownVoice, type VoiceNames } from "../vendors/names.ts"

const decodeCancel = decodeMessage(Schema.toCodecJson(CartesiaCancel), { nullIsAbsent: true })
const decodeRequest = decodeMessage(Schema.toCodecJson(CartesiaRequest), { nullIsAbsent: true })

/** What the first request of a context asked for. */
interface Asked {
  readonly isTimed: boolean
  readonly isFloat: boolean
  flushes: number
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

/** The elements that Cartesia knows in a transcript. */
const vendorTag = /<\/?(break|speed|volume|emotion|spell|phoneme|speak)\b/u

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
  const tag = vendorTag.exec(transcript)?.[1]
  if (tag !== undefined) {
    const fault = `<${tag}> is not followed here, and would be read out; ${livePath} takes SSML`
    return Result.fail(validationFailed({ transcript: fault }))
  }
  const begins = !isOpen(contextId)
  if (begins && transcript === "") return Result.succeed([])
  return Result.map(begins ? orderOf(request, voices) : Result.succeed(undefined), (order) => {
    if (order !== undefined) {
      const isFloat = request.output_format.encoding === "pcm_f32le"
      asked.set(contextId, { isTimed: request.add_timestamps ?? false, isFloat, flushes: 0 })
    }
    const own = asked.get(contextId)
    if (flush && own !== undefined) own.flushes += 1
    return [
      ...(order === undefined ? [] : [{ _tag: "Start", contextId, order } as const]),
      ...(transcript === "" ? [] : [{ _tag: "Text", contextId, text: transcript } as const]),
      ...(flush ? [{ _tag: "Flush", contextId, flushId: String(own?.flushes ?? 1) } as const] : []),
      // Each transcript is complete then.
      ...(!flush && request.max_buffer_delay_ms === 0 ? [{ _tag: "Flush", contextId } as const] : []),
      ...(continues ? [] : [{ _tag: "End", contextId } as const])
    ]
  })
}

const formats = { pcm_s16le: "pcm", pcm_f32le: "pcm", pcm_mulaw: "ulaw", pcm_alaw: "alaw" } as const

const orderOf = (request: CartesiaRequest, voices: VoiceNames): Result.Result<ContextOrder, WireError> => {
  const {
    generation_config,
    language,
    max_buffer_delay_ms: waitMs = liveLimits.maxWaitMsDefault,
    model_id,
    voice
  } = request
  const { encoding, sample_rate } = request.output_format
  const isG711 = encoding === "pcm_mulaw" || encoding === "pcm_alaw"
  if (isG711 && sample_rate !== 8_000) {
    return Result.fail(validationFailed({ "output_format.sample_rate": `${encoding} has 8000 samples a second` }))
  }
  return Result.succeed({
    voiceId: ownVoice(voices, typeof voice === "string" ? voice : voice.id),
    output_format: `${formats[encoding]}_${sample_rate}`,
    maxWaitMs: Math.max(maxWaitMsMin, waitMs),
    ...(language === undefined ? {} : { language }),
    ...(generation_config?.speed === undefined ? {} : { speed: generation_config.speed }),
    ...ownModel(model_id, /^sonic/u),
    ...ownNormalization(request.normalization)
  })
}

interface Writing {
  readonly asked: Map<string, Asked>
  readonly requestId: string
}

const messagesOf = ({ id }: LiveContext, event: LiveEvent, { asked, requestId }: Writing): ReadonlyArray<object> => {
  const own = asked.get(id)
  const unfinished = { context_id: id, done: false, status_code: 206 }
  switch (event._tag) {
    case "Started":
      return []
    case "Audio": {
      const { bytes, marks } = event
      const data = base64(own?.isFloat === true ? floatsOf(bytes) : bytes)
      const word_timestamps = {
        words: marks.map(({ value }) => value),
        start: marks.map(({ start_time }) => start_time / 1_000),
        end: marks.map(({ end_time }) => end_time / 1_000)
      }
      const isTimed = own?.isTimed === true && marks.length > 0
      return [
        ...(data === "" ? [] : [{ type: "chunk", data, step_time: 0, ...unfinished }]),
        ...(isTimed ? [{ type: "timestamps", word_timestamps, ...unfinished }] : [])
      ]
    }
    case "Flushed":
      return event.flushId === undefined
        ? []
        : [{ type: "flush_done", flush_done: true, flush_id: Number(event.flushId), ...unfinished }]
    case "Done":
    case "Cancelled":
      asked.delete(id)
      return [{ type: "done", context_id: id, done: true, status_code: 200 }]
    case "Failed":
      asked.delete(id)
      return [errorOf(event.error, id, requestId)]
  }
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")

/** Samples of 16 bits as floats from -1 to 1. */
export const floatsOf = (bytes: Uint8Array): Uint8Array => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const floats = new Uint8Array(bytes.length * 2)
  const written = new DataView(floats.buffer)
  for (let at = 0; at + 1 < bytes.length; at += 2) written.setFloat32(2 * at, view.getInt16(at, true) / 32_768, true)
  return floats
}

const errorOf = ({ code, fields, message, status }: WireError, contextId: string, requestId: string) => {
  const said =
    fields === undefined
      ? message
      : Object.entries(fields)
          .map((fault) => fault.join(": "))
          .join("; ")
  const described = { title: code, message: said, error: said, error_code: code, status_code: status }
  return { type: "error", context_id: contextId, done: true, ...described, request_id: requestId }
}
