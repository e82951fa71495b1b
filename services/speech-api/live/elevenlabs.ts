/**
 * The live messages of ElevenLabs: `stream-input` of one context, `multi-stream-input` of several. Pure, except for
 * clocks.
 */
import { Result, Schema } from "effect"
import type { WordMark } from "#speech/contract"
import { ElevenLabsMessage, ElevenLabsQuery, liveLimits } from "#speech/api"
import { decodeMessage, type HttpCall, type WireError } from "#http"
import { type ContextOrder, type LiveCommand, type LiveDialect, type LiveEvent } from "./dialect.ts"
import type { LiveContext } from "./LiveContext.ts"
import { ownModel, ownNormalization, ownVoice, type VoiceNames } from "../vendors/names.ts"

const decode = decodeMessage(Schema.toCodecJson(ElevenLabsMessage), { nullIsAbsent: true })
const decodeQuery = decodeMessage(Schema.toCodecJson(ElevenLabsQuery), {})

const formatDefault = "mp3_44100_128"
/** A context without an id of its own. */
const onlyContext = "default"

type Call = Pick<HttpCall["Service"], "params" | "query">

export const elevenLabsDialect =
  (isMulti: boolean) =>
  ({ params, query }: Call, voices: VoiceNames): Result.Result<LiveDialect, WireError> =>
    Result.map(decodeQuery(query), (asked) => {
      const { enable_ssml_parsing: ssml, language_code: language, model_id: model, output_format } = asked
      const base = {
        ...(ssml?.toLowerCase() === "true" ? { ssml: true } : {}),
        voiceId: ownVoice(voices, params["voice_id"] ?? ""),
        output_format: output_format ?? formatDefault,
        maxWaitMs: liveLimits.maxWaitMsDefault,
        ...(language === undefined ? {} : { language }),
        ...ownModel(model, /^eleven_/u),
        ...ownNormalization(asked.apply_text_normalization)
      }
      const orderOf = ({ voice_settings }: ElevenLabsMessage): ContextOrder =>
        voice_settings?.speed === undefined ? base : { ...base, speed: voice_settings.speed }
      // Up to where each context's words were reported, in ms of its audio.
      const sentMs = new Map<string, number>()
      return {
        isOfOneContext: !isMulti,
        read: (message, isOpen) =>
          Result.map(decode(message), (known) =>
            (isMulti ? commandsOfMulti : commandsOfOne)(known, { isOpen, order: orderOf(known) })
          ),
        write: (context, event) => messagesOf(context, event, { isMulti, sentMs }),
        refuse: (error, contextId) => errorOf(error, isMulti ? contextId : undefined)
      }
    })

interface Reading {
  readonly isOpen: (contextId: string) => boolean
  readonly order: ContextOrder
}

/** The first message starts, an empty text ends. */
const commandsOfOne = (message: ElevenLabsMessage, { isOpen, order }: Reading): ReadonlyArray<LiveCommand> => {
  const contextId = onlyContext
  const begun: ReadonlyArray<LiveCommand> = isOpen(contextId) ? [] : [{ _tag: "Start", contextId, order }]
  if (message.text === "" || message.close_socket === true) {
    return isOpen(contextId) && message.flush === true
      ? [{ _tag: "Flush", contextId }, { _tag: "Close" }]
      : [{ _tag: "Close" }]
  }
  const { flush, text } = message
  return [
    ...begun,
    ...(text === undefined ? [] : [{ _tag: "Text", contextId, text } as const]),
    ...(flush === true ? [{ _tag: "Flush", contextId } as const] : [])
  ]
}

/** An empty text keeps a context open; its end is explicit. */
const commandsOfMulti = (message: ElevenLabsMessage, { isOpen, order }: Reading): ReadonlyArray<LiveCommand> => {
  const { close_context, close_socket, flush, text = "" } = message
  if (close_socket === true) return [{ _tag: "Close" }]
  const contextId = message.context_id ?? message.contextId ?? onlyContext
  const begins = text !== "" && !isOpen(contextId)
  if (!begins && !isOpen(contextId)) return [{ _tag: "KeepAlive" }]
  return [
    ...(begins ? [{ _tag: "Start", contextId, order } as const] : []),
    ...(text === "" ? [] : [{ _tag: "Text", contextId, text } as const]),
    ...(flush === true ? [{ _tag: "Flush", contextId } as const] : []),
    ...(close_context === true ? [{ _tag: "End", contextId } as const] : [])
  ]
}

interface Writing {
  readonly isMulti: boolean
  readonly sentMs: Map<string, number>
}

const messagesOf = ({ id }: LiveContext, event: LiveEvent, { isMulti, sentMs }: Writing): ReadonlyArray<object> => {
  const named = isMulti ? { contextId: id } : {}
  switch (event._tag) {
    case "Started":
      sentMs.set(id, 0)
      return []
    case "Audio": {
      const { bytes, marks } = event
      const { aligned, untilMs } = alignmentOf(marks, sentMs.get(id) ?? 0)
      sentMs.set(id, untilMs)
      const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")
      const message = {
        audio: audio === "" ? null : audio,
        isFinal: null,
        alignment: aligned,
        normalizedAlignment: aligned
      }
      return audio === "" && aligned === null ? [] : [{ ...message, ...named }]
    }
    case "Flushed":
      return []
    case "Done":
    case "Cancelled":
      sentMs.delete(id)
      return [{ audio: null, isFinal: true, alignment: null, normalizedAlignment: null, ...named }]
    case "Failed":
      sentMs.delete(id)
      return [errorOf(event.error, isMulti ? id : undefined)]
  }
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u

/**
 * The characters of words, with a space after each. Their times restart with each message, where those of the message
 * before have ended; a word's time is divided among its characters.
 */
export const alignmentOf = (marks: ReadonlyArray<WordMark>, fromMs: number) => {
  const [chars, charStartTimesMs, charDurationsMs]: [Array<string>, Array<number>, Array<number>] = [[], [], []]
  let untilMs = fromMs
  const add = (char: string, endMs: number, startMs: number) => {
    chars.push(char)
    charStartTimesMs.push(startMs - fromMs)
    charDurationsMs.push(endMs - startMs)
    untilMs = endMs
  }
  for (const { end_time, start_time, value } of marks) {
    const startMs = Math.max(untilMs, Math.round(start_time))
    const lengthMs = Math.max(0, Math.round(end_time) - startMs)
    const own = [...value]
    for (const [nth, char] of own.entries()) {
      add(
        char,
        startMs + Math.round(((nth + 1) * lengthMs) / own.length),
        startMs + Math.round((nth * lengthMs) / own.length)
      )
    }
    if (!unspaced.test(value)) add(" ", untilMs, untilMs)
  }
  const aligned = chars.length === 0 ? null : { chars, charStartTimesMs, charDurationsMs }
  return { aligned, untilMs }
}

/** The code of RFC 6455 that ElevenLabs gives with each. */
const policyViolation = 1_008

const errorOf = ({ code, fields, message }: WireError, contextId: string | undefined) => ({
  message:
    fields === undefined
      ? message
      : Object.entries(fields)
          .map((fault) => fault.join(": "))
          .join("; "),
  error: code,
  code: policyViolation,
  ...(contextId === undefined ? {} : { contextId })
})
