/** Reads what `say` is asked for. What cannot be meant is told before anything is sent. */
import { Effect } from "effect"
import { speechInputMax } from "#contracts"
import { defaultVoiceId } from "#speech"
import { readParameters } from "./parameters.ts"
import { chooseFormat, playedFormat, type SayFormat } from "./say-format.ts"
import { misused } from "./say-stopped.ts"
import { readText, type TextSource } from "./say-text.ts"

export type MarksShown = "words" | "json"

export interface SayOrder {
  readonly text: string
  /** As the API names them. */
  readonly asked: Readonly<Record<string, string>>
  /** Without one it is played. */
  readonly file: string | undefined
  readonly format: SayFormat
  readonly marks: MarksShown | undefined
}

/** Nothing when the voices are asked for. */
export const readOrder = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* read(parameters)
  if (values.voices === true || values.voice === "list") return undefined
  const marks = yield* marksOf(values.marks)
  if (values.out === undefined && values.format !== undefined) {
    return yield* misused("--format is for a file, name it with -o")
  }
  const text = yield* readText(yield* sourceOf(positionals, values.file))
  if (text.trim() === "") return yield* misused("there is nothing to say in that")
  if (text.length > speechInputMax.stream) {
    const longest = speechInputMax.stream.toLocaleString("en")
    return yield* misused(`that is ${text.length.toLocaleString("en")} characters long, ${longest} are spoken at once`)
  }
  const format =
    values.out === undefined
      ? playedFormat
      : yield* Effect.mapError(Effect.fromResult(chooseFormat(values.out, values.format, text.length)), misused)
  const order: SayOrder = {
    text,
    asked: {
      voice_id: values.voice ?? defaultVoiceId(values.language),
      ...(values.model === undefined ? {} : { model: values.model }),
      ...(values.language === undefined ? {} : { language: values.language })
    },
    file: values.out,
    format,
    marks
  }
  return order
})

const read = (parameters: ReadonlyArray<string>) => {
  const end = parameters.indexOf("--")
  const isOption = (at: number) => end === -1 || at < end
  return readParameters({
    // An option with or without a value is more than parseArgs knows.
    args: parameters.map((given, at) => (given === "--marks" && isOption(at) ? "--marks=words" : given)),
    allowPositionals: true,
    options: {
      out: { type: "string", short: "o" },
      file: { type: "string" },
      format: { type: "string" },
      language: { type: "string" },
      marks: { type: "string" },
      model: { type: "string" },
      voice: { type: "string" },
      voices: { type: "boolean" }
    }
  }).pipe(Effect.mapError(({ reason }) => misused(reason)))
}

const marksOf = Effect.fnUntraced(function* (given: string | undefined) {
  if (given === undefined || given === "words" || given === "json") return given
  return yield* misused(`--marks=${given}? it is --marks or --marks=json`)
})

const sourceOf = Effect.fnUntraced(function* (words: ReadonlyArray<string>, file: string | undefined) {
  const isStdin = words.length === 1 && words[0] === "-"
  if (file !== undefined && words.length > 0) return yield* misused("either a text or a --file is said, not both")
  if (file !== undefined || isStdin) {
    const source: TextSource = file === undefined || file === "-" ? { from: "stdin" } : { from: "file", file }
    return source
  }
  if (words.length > 0) return { from: "parameters", text: words.join(" ") } satisfies TextSource
  return yield* misused('say what? a "text", --file F, or - for standard input')
})
