/**
 * One line per log entry on stderr (stdout is for a command's answer): JSON for machines, or short text for people, in
 * colours where they are shown. Secrets are removed from every line. An entry of more than 8,192 characters is
 * shortened field by field, so that it stays an object, and is marked as shortened.
 */
import { styleText } from "node:util"
import { Cause, Context, Logger, type LogLevel, References, Tracer } from "effect"
import { printable, printableLine } from "#base"
import { Role } from "./host.ts"
import { Secrets } from "./secrets.ts"

export type LogFormat = "json" | "pretty" | "coloured"

/** Sets the format, whatever the streams are: `json` or `text`. */
export const logFormatVariable = "STARLING_LOG_FORMAT"

export interface LogFormatFacts {
  /** The variable's value, if set. */
  readonly asked: string | undefined
  /** The format of a program that uses one for every reader. */
  readonly own?: LogFormat | undefined
  readonly hasTerminal: boolean
  readonly wantsColours: boolean
}

/** None when the variable names no format. */
export const chosenFormat = ({ asked = "", own, hasTerminal, wantsColours }: LogFormatFacts): LogFormat | undefined => {
  const text = hasTerminal && wantsColours ? "coloured" : "pretty"
  if (asked === "") return own ?? (hasTerminal ? text : "json")
  if (asked === "text") return text
  return asked === "json" ? "json" : undefined
}

const lineCharactersMax = 8_192
// The length of a field in a line that is too long. A cause with a long chain has the important part first.
const messageCharactersMax = 1_024
const errorCharactersMax = 3_072
const annotationsMax = 12
const annotationCharactersMax = 256

type Entry = Logger.Options<unknown>

export const lineLogger = (format: LogFormat, write: (line: string) => void) =>
  Logger.make((entry: Entry) => {
    const { redact } = Context.get(entry.fiber.context, Secrets)
    write(
      format === "json" ? jsonLine(entry, redact) : textLine(entry, redact, format === "pretty" ? plainly : coloured)
    )
  })

const cut = (text: string, charactersMax: number) =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`

const jsonLine = (entry: Entry, redact: (text: string) => string) => {
  const { messages, causes } = split(entry)
  const head = {
    time: entry.date.toISOString(),
    level: entry.logLevel.toUpperCase(),
    role: Context.get(entry.fiber.context, Role)
  }
  const message = messages.map(plain).join(" ")
  const error = causes.join("\n")
  const annotations = annotationsOf(entry)
  const whole = { ...head, message, ...traceOf(entry), ...annotations, ...(error === "" ? {} : { error }) }
  const line = printable(redact(safeJson(whole)))
  if (line.length <= lineCharactersMax) return line
  // Redaction comes before the cut: no pattern matches half a secret.
  const short = (text: string, charactersMax: number) => cut(redact(text), charactersMax)
  const notes = Object.entries(annotations).slice(0, annotationsMax)
  const shortened = JSON.stringify({
    ...head,
    message: short(message, messageCharactersMax),
    truncated: true,
    ...traceOf(entry),
    ...Object.fromEntries(notes.map(([key, value]) => [key, short(plain(value), annotationCharactersMax)])),
    ...(error === "" ? {} : { error: short(error, errorCharactersMax) })
  })
  return printable(shortened)
}

type Colour = "gray" | "green" | "yellow" | "red" | "cyan"
type Paint = (colour: Colour, text: string) => string

const plainly: Paint = (_colour, text) => text
const coloured: Paint = (colour, text) => (text === "" ? "" : styleText(colour, text, { validateStream: false }))

const colourOf = (level: LogLevel.LogLevel): Colour => {
  if (level === "Fatal" || level === "Error") return "red"
  if (level === "Warn") return "yellow"
  return level === "Info" ? "green" : "gray"
}

const textLine = (entry: Entry, redact: (text: string) => string, paint: Paint) => {
  const { messages, causes } = split(entry)
  // Each part is coloured separately. The line is cut first, because a colour without its end would run on.
  let left = lineCharactersMax
  const shown = (text: string) => {
    const part = cut(printable(redact(text)), left)
    left = Math.max(0, left - part.length)
    return part
  }
  const time = paint("gray", entry.date.toISOString().slice(11, 23))
  const level = paint(colourOf(entry.logLevel), entry.logLevel.toUpperCase().padEnd(5))
  const role = paint("cyan", Context.get(entry.fiber.context, Role))
  const message = shown(messages.map(plain).join(" "))
  const notes = Object.entries(annotationsOf(entry)).map(([key, value]) => printableLine(`${key}=${plain(value)}`))
  const annotations = paint("gray", shown(notes.join(" ")))
  const head = [time, level, role, message, annotations].filter((part) => part !== "").join(" ")
  return [head, ...causes.map((cause) => shown(cause))].filter((part) => part !== "").join("\n  ")
}

const split = (entry: Entry) => {
  const parts = Array.isArray(entry.message) ? entry.message : [entry.message]
  const causes = [
    ...parts.filter(Cause.isCause).map((cause) => Cause.pretty(cause)),
    ...parts
      .filter((part) => part instanceof Error)
      .map((error) => `${error.name}: ${error.message}${detailOf(error)}`),
    ...(entry.cause.reasons.length === 0 ? [] : [Cause.pretty(entry.cause)])
  ]
  return { messages: parts.filter((part) => !Cause.isCause(part) && !(part instanceof Error)), causes }
}

// Tagged errors carry their facts in fields; without a message these are all they have.
const detailOf = (error: Error) => (error.message === "" ? plain({ ...error }) : "")

const traceOf = (entry: Entry) => {
  const span = Context.getOption(entry.fiber.context, Tracer.ParentSpan)
  return span._tag === "None" ? {} : { traceId: span.value.traceId, spanId: span.value.spanId }
}

const annotationsOf = (entry: Entry) => ({ ...Context.get(entry.fiber.context, References.CurrentLogAnnotations) })

const plain = (value: unknown): string => (typeof value === "string" ? value : safeJson(value))

const safeJson = (value: unknown) => {
  const seen = new Set<unknown>()
  return (
    JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner === "bigint") return String(inner)
      if (typeof inner !== "object" || inner === null) return inner
      if (seen.has(inner)) return "[seen]"
      seen.add(inner)
      return inner
    }) ?? String(value)
  )
}
