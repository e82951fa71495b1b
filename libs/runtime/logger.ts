/**
 * One line per log entry on stderr (stdout belongs to what a command answers): JSON for machines, or short
 * text for a terminal. Secrets are blotted out of every line, and a line is at most 8 kB.
 */
import { Cause, Context, Logger, References, Tracer } from "effect"
import { Role } from "./Role.ts"
import { Secrets } from "./Secrets.ts"

export type LogFormat = "json" | "pretty"

// A cause with a long chain says the important part first.
const lineCharactersMax = 8_192

type Entry = Logger.Options<unknown>

export const lineLogger = (format: LogFormat, write: (line: string) => void) =>
  Logger.make((entry: Entry) => {
    const secrets = Context.get(entry.fiber.context, Secrets)
    const line = secrets.redact(format === "json" ? jsonLine(entry) : prettyLine(entry))
    write(line.length <= lineCharactersMax ? line : `${line.slice(0, lineCharactersMax)}…`)
  })

const jsonLine = (entry: Entry) => {
  const { messages, causes } = split(entry)
  return JSON.stringify({
    time: entry.date.toISOString(),
    level: entry.logLevel.toUpperCase(),
    role: Context.get(entry.fiber.context, Role),
    message: messages.map(plain).join(" "),
    ...traceOf(entry),
    ...annotationsOf(entry),
    ...(causes.length === 0 ? {} : { error: causes.join("\n").slice(0, lineCharactersMax / 2) })
  })
}

const prettyLine = (entry: Entry) => {
  const { messages, causes } = split(entry)
  const annotations = Object.entries(annotationsOf(entry)).map(([key, value]) => `${key}=${plain(value)}`)
  const time = entry.date.toISOString().slice(11, 23)
  const role = Context.get(entry.fiber.context, Role)
  const head = [time, entry.logLevel.toUpperCase().padEnd(5), role, messages.map(plain).join(" "), ...annotations]
  return [head.join(" "), ...causes].join("\n  ")
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

// Tagged errors carry their facts in fields; without a message of their own these are all there is.
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
