/**
 * Takes secrets out of a command, wherever people or agents wrote a text in it: questions, answers, reasons, notes,
 * errors, findings, suggestions. What a text is told by, its key, decides; ids, branches and addresses stay. A text
 * that grew by what stands for its secrets is cut, so that it fits where the other did. Pure.
 */
import type { Redact } from "#runtime"

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
  if (Array.isArray(value)) {
    const clean = value.map((each) => redacted(each, key, redact))
    return clean.some((each, index) => each !== value[index]) ? clean : value
  }
  return typeof value === "object" && value !== null ? redactedRecord(value, redact) : value
}

/** The same object where nothing in it changed, as in most. */
const redactedRecord = (value: object, redact: Redact): object => {
  let clean: Array<[string, unknown]> | undefined
  const entries = Object.entries(value)
  for (const [index, [name, each]] of entries.entries()) {
    const one = redacted(each, name, redact)
    if (one !== each) clean ??= entries.slice(0, index)
    clean?.push([name, one])
  }
  return clean === undefined ? value : Object.fromEntries(clean)
}

const redactedText = (text: string, key: string, redact: Redact) => {
  if (wide.has(key)) return redact(text).slice(0, Math.max(text.length, wideCharacters))
  return narrow.has(key) ? redact(text).slice(0, text.length) : text
}
