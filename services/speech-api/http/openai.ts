/**
 * OpenAI's dialect of the speech route, translated: which dialect a body is in, its order in our own terms, its events,
 * and refusals in OpenAI's terms. Pure.
 */
import { Effect, Result, Stream } from "effect"
import type { AudioError } from "#speech/audio"
import type { ConfigurationFile } from "#configuration"
import type { OutputFormat } from "#speech/contract"
import {
  openAiFields,
  type OpenAiResponseFormat,
  type OpenAiSpeechEvent,
  type OpenAiSpeechRequest,
  ownFields,
  speechErrorType
} from "#speech/api"
import { jsonEvent, type ServerSentEvent, validationFailed, WireError } from "#http"
import type { Spoken } from "../speaking/Speech.ts"
import type { Order } from "../speaking/plan.ts"
import type { InputRefused, SpeechFailed } from "../refusals.ts"

/** The dialect of a body, by its fields; refused if it has fields of both. Null counts as absent. */
export const dialectOf = (body: unknown): Result.Result<"own" | "openai", WireError> => {
  const isPresent = (name: string) =>
    typeof body === "object" && body !== null && name in body && (body as Record<string, unknown>)[name] !== null
  const [openAi, own] = [openAiFields.filter(isPresent), ownFields.filter(isPresent)]
  if (openAi.length === 0) return Result.succeed("own")
  if (own.length === 0) return Result.succeed("openai")
  const faults = [
    ...openAi.map((name) => [name, `a field of OpenAI's requests, which have no ${own.join(", ")}`]),
    ...own.map((name) => [name, `a field of our own requests, which have no ${openAi.join(", ")}`])
  ]
  const fields = Object.fromEntries(faults) as Record<string, string>
  return Result.fail(new WireError({ ...validationFailed(fields), message: saidOf(Object.entries(fields)) }))
}

const formats: Readonly<Record<OpenAiResponseFormat, OutputFormat>> = {
  mp3: "mp3_24000_64",
  opus: "ogg_24000",
  aac: "aac_24000",
  flac: "flac_24000",
  wav: "wav_24000",
  pcm: "pcm_24000"
}

type NameTables = Pick<ConfigurationFile["SpeechApi"], "OpenAiVoices" | "OpenAiModels">

/** The same order in our own terms. */
export const orderOf = (request: OpenAiSpeechRequest, { OpenAiVoices, OpenAiModels }: NameTables): Order => {
  const { input, model, voice, speed, response_format: format = "mp3" } = request
  const name = typeof voice === "string" ? voice : voice.id
  return {
    turns: [{ input, voice_id: ownName(OpenAiVoices, name) }],
    model: ownName(OpenAiModels, model),
    output_format: formats[format],
    ...(speed === undefined ? {} : { speed })
  }
}

const ownName = (table: Readonly<Record<string, string>>, name: string) =>
  Object.hasOwn(table, name) ? (table[name] ?? name) : name

const saidOf = (faults: ReadonlyArray<readonly [name: string, fault: string]>) =>
  faults.map(([name, fault]) => `${name}: ${fault}`).join("; ")

const openAiNames: Readonly<Record<string, string>> = {
  voice_id: "voice",
  language: "voice",
  output_format: "response_format"
}

/**
 * The refusal with the fields of OpenAI's request. Its message says what is wrong, because its clients show nothing
 * else.
 */
export const inOpenAiTerms = (error: WireError): WireError => {
  const { fields } = error
  if (fields === undefined) return error
  const named = Object.entries(fields).map(([name, fault]) => [openAiNames[name] ?? name, fault] as const)
  return new WireError({
    ...error,
    message: saidOf(named),
    fields: Object.fromEntries(named)
  })
}

// A line of an event stream stays below 64 KiB, the longest that common clients read: 40 kB are 54 kB in base64.
const audioBytesMax = 40_000

const eventOf = (event: OpenAiSpeechEvent): ServerSentEvent => jsonEvent(event)

type Failure = InputRefused | SpeechFailed | AudioError

/** The audio in pieces, then what it costs. */
export const openAiEvents = ({
  billableCharacters,
  bytes
}: Pick<Spoken, "billableCharacters" | "bytes">): Stream.Stream<ServerSentEvent, Failure> =>
  bytes.pipe(
    Stream.flatMap((piece) => Stream.fromIterable(deltasOf(piece))),
    Stream.concat(
      Stream.fromEffect(
        Effect.sync(() => {
          const billed = billableCharacters()
          const usage = { input_tokens: billed, output_tokens: 0, total_tokens: billed }
          return eventOf({ type: "speech.audio.done", usage })
        })
      )
    )
  )

const deltasOf = (bytes: Uint8Array): ReadonlyArray<ServerSentEvent> =>
  Array.from({ length: Math.ceil(bytes.length / audioBytesMax) }, (_, index) => {
    const piece = bytes.subarray(index * audioBytesMax, (index + 1) * audioBytesMax)
    return eventOf({ type: "speech.audio.delta", audio: Buffer.from(piece).toString("base64") })
  })

/** The last event in place of `speech.audio.done`, if the speech breaks off. */
export const openAiErrorEvent = (code: string, message: string): ServerSentEvent =>
  eventOf({ type: "error", error: { message, type: speechErrorType(502), param: null, code } })
