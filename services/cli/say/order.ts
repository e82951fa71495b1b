/**
 * The order of `say`: the text, the format of a file, and the route that serves it. A faulty order is refused before
 * anything is sent.
 */
import { extname } from "node:path"
import { Effect, Result } from "effect"
import { type AudioFormat, audioFormats, formatNamed, formatOfAudioFormat } from "#speech/audio"
import { speechInputMax, type StreamRequest } from "#speech/api"
import { misused, textWithin } from "../console.ts"

/** The order as given on the command line. */
export interface SayGiven {
  readonly words: ReadonlyArray<string>
  readonly file: string | undefined
  readonly out: string | undefined
  readonly format: string | undefined
  readonly voice: string | undefined
  readonly voices: boolean
  readonly language: string | undefined
  readonly model: string | undefined
  readonly lexicon: ReadonlyArray<string>
  readonly speed: number | undefined
  readonly marks: MarksShown | undefined
}

export type MarksShown = "words" | "json"

export interface SayOrder {
  readonly text: string
  /** Without a voice the fleet's best one speaks. */
  readonly asked: Pick<StreamRequest, "model" | "language" | "lexicons" | "speed"> & {
    readonly voice_id: string | undefined
  }
  /** Played if no file is given. */
  readonly file: string | undefined
  readonly format: SayFormat
  readonly marks: MarksShown | undefined
}

/** An order whose voice is chosen. */
export interface SpokenOrder extends SayOrder {
  readonly asked: SayOrder["asked"] & { readonly voice_id: string }
}

/** Undefined when only the voices are requested. */
export const readOrder = Effect.fnUntraced(function* (given: SayGiven) {
  const { out, format: named, language, model, speed, marks } = given
  if (given.voices || given.voice === "list") return undefined
  if (out === undefined && named !== undefined) return yield* misused("--format is for a file, name it with -o")
  const text = yield* readText(yield* sourceOf(given.words, given.file))
  if (text.trim() === "") return yield* misused("there is nothing to say in that")
  if (text.length > speechInputMax.stream) {
    const longest = speechInputMax.stream.toLocaleString("en")
    return yield* misused(`that is ${text.length.toLocaleString("en")} characters long, ${longest} are spoken at once`)
  }
  const format =
    out === undefined
      ? playedFormat
      : yield* Effect.mapError(Effect.fromResult(chooseFormat(out, named, text.length)), misused)
  const order: SayOrder = {
    text,
    asked: {
      voice_id: given.voice,
      ...(model === undefined ? {} : { model }),
      ...(language === undefined ? {} : { language }),
      ...(given.lexicon.length === 0 ? {} : { lexicons: given.lexicon }),
      ...(speed === undefined ? {} : { speed })
    },
    file: out,
    format,
    marks
  }
  return order
})

type TextSource =
  | { readonly from: "words"; readonly text: string }
  | { readonly from: "file"; readonly file: string }
  | { readonly from: "stdin" }

const sourceOf = Effect.fnUntraced(function* (words: ReadonlyArray<string>, file: string | undefined) {
  const isStdin = words.length === 1 && words[0] === "-"
  if (file !== undefined && words.length > 0) return yield* misused("give either a text or a --file, not both")
  if (file !== undefined || isStdin) {
    const source: TextSource = file === undefined || file === "-" ? { from: "stdin" } : { from: "file", file }
    return source
  }
  if (words.length > 0) return { from: "words", text: words.join(" ") } satisfies TextSource
  return yield* misused('say what? a "text", --file F, or - for standard input')
})

// A UTF-16 unit is three bytes of UTF-8 at most.
const bytesMax = speechInputMax.stream * 3 + 1_024

const readText = Effect.fnUntraced(function* (source: TextSource) {
  if (source.from === "words") return source.text
  const longest = speechInputMax.stream.toLocaleString("en")
  const file = source.from === "file" ? source.file : "-"
  const text = yield* textWithin({
    file,
    bytesMax,
    tooLong: `is too long, ${longest} characters are spoken at once`
  })
  return text.trimEnd()
})

interface SayFormat {
  readonly outputFormat: string
  readonly route: "answer" | "stream"
  /** Set when the audio is streamed PCM and a WAV file needs a header in front of it. */
  readonly wavRateHz: number | undefined
}

/** The rate for a sound card. */
export const playedRateHz = 24_000
const playedFormat: SayFormat = { outputFormat: `pcm_${playedRateHz}`, route: "stream", wavRateHz: undefined }

const containers = ["mp3", "ogg", "aac", "flac", "wav", "pcm", "ulaw", "alaw"] as const

export const chooseFormat = (
  file: string,
  named: string | undefined,
  characters: number
): Result.Result<SayFormat, string> => {
  const extension = extname(file).slice(1).toLowerCase()
  const format = named === undefined ? formatOf(extension) : (formatNamed(named) ?? formatOf(named))
  if (format === undefined) {
    const known = `${containers.join(", ")}, or one of ${audioFormats.map(({ name }) => name).join(", ")}`
    return Result.fail(
      named === undefined
        ? `${file} does not say what it is: end it with .${containers.join(", .")}, or name a --format`
        : `--format ${named}? it is ${known}`
    )
  }
  if (formatOf(extension) !== undefined && format.audioFormat !== extension) {
    return Result.fail(`${file} would not be what its name says: --format ${named} is ${format.audioFormat}`)
  }
  if (format.isStreamable) {
    return Result.succeed({ outputFormat: format.name, route: "stream", wavRateHz: undefined })
  }
  return Result.succeed(
    characters <= speechInputMax.answer
      ? { outputFormat: format.name, route: "answer", wavRateHz: undefined }
      : { outputFormat: `pcm_${format.sampleRateHz}`, route: "stream", wavRateHz: format.sampleRateHz }
  )
}

const formatOf = (name: string): AudioFormat | undefined => {
  const container = containers.find((one) => one === name)
  return container === undefined ? undefined : formatOfAudioFormat(container)
}
