/**
 * Takes secrets out of a command, wherever people or agents wrote a text in it: questions, answers, reasons, notes,
 * errors, findings, suggestions. What a text is told by, its key, decides; ids, branches and addresses stay. A text
 * that grew by what stands for its secrets is cut, so that it fits where the other did. Pure.
 */
import type { Redact } from "./redact.ts"

/** Texts whose bound is 500 characters or more. */
const wide: ReadonlySet<string> = new Set([
  "actionableAnswer",
  "answer",
  "description",
  "error",
  "lastError",
  "note",
  "questionText",
  "rationale",
  "reason"
])
const wideCharacters = 500
/** Short ones. */
const narrow: ReadonlySet<string> = new Set(["location", "title"])

export const redactTexts = <A>(value: A, redact: Redact): A => redacted(value, "", redact) as A

const redacted = (value: unknown, key: string, redact: Redact): unknown => {
  if (typeof value === "string") return redactedText(value, key, redact)
  if (Array.isArray(value)) return value.map((each) => redacted(each, key, redact))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, redacted(each, name, redact)]))
}

const redactedText = (text: string, key: string, redact: Redact) => {
  if (wide.has(key)) return redact(text).slice(0, Math.max(text.length, wideCharacters))
  return narrow.has(key) ? redact(text).slice(0, text.length) : text
}
