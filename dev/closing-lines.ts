/**
 * What the last lines of all tests say of what failed: each failure by its ring, file and full name, the first
 * lines of its message and where it was thrown, and what failed outside of tests by its own first lines. Often
 * only the last 4 kB of an output are kept, so all of it fits in those: the more failures, the less is said of each.
 */

/** One failure, of a test or beside them. */
export interface Failure {
  /** Ring of tests, or the check that failed: `unit`, `fleet`, `types`, `lint`. */
  readonly ring: string
  /** Path from the root of the repository; null where no file is to blame. */
  readonly file: string | null
  /** Full name of the test; a suite's where its hook failed; what happened, where no test is to blame. */
  readonly name: string
  readonly message: string
  /** `path:line` of our code that threw, if known. */
  readonly where: string | null
}

/** Failures that are named; of more than these is said how many they are. */
export const failuresNamedMax = 20
/** All characters together: what must fit in 4,096 bytes with the counts, and with some letters of two bytes. */
export const charactersMax = 3_450
/** Of the names in the line of what is flaky, which stands between what failed and the counts. */
export const flakyCharactersMax = 240
/** Names in that line; they stand with what they said further up. */
const flakyNamedMax = 3
/** For the heading, and for how many more there are. */
const charactersAround = 40
const messageLinesMax = 4
const nameShare = 0.6
const indent = "    "

// Codes of colours, which other programs write for terminals.
const escapes = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*m`, "gu")
const plain = (text: string) => text.replaceAll(escapes, "")

const clipped = (text: string, charactersMax: number) =>
  text.length <= charactersMax ? text : `${text.slice(0, Math.max(0, charactersMax - 1))}…`

// What stands at the end of a name tells tests of one suite apart, so the middle goes.
const clippedInside = (text: string, charactersMax: number) => {
  if (text.length <= charactersMax) return text
  const kept = Math.max(0, charactersMax - 1)
  return `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`
}

const linesOf = (text: string) =>
  plain(text)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== "")

const linesOfFailure = ({ file, message, name, ring, where }: Failure, share: number): ReadonlyArray<string> => {
  const title = ["✗", ring, ...(file === null ? [] : [file, "›"]), plain(name)].join(" ").replaceAll(/\s+/gu, " ")
  const head = clippedInside(title, Math.floor(share * nameShare))
  const tail = where === null ? [] : [`${indent}at ${where}`]
  let left = share - head.length - tail.join("").length - 2
  const said: Array<string> = []
  for (const line of linesOf(message).slice(0, messageLinesMax)) {
    if (left <= indent.length + 8) break
    said.push(clipped(`${indent}${line}`, left - 1))
    left -= indent.length + line.length + 1
  }
  return [head, ...said, ...tail]
}

/** Every failure in turn, bounded in number and in characters; nothing where nothing failed. */
export const closingLines = (failures: ReadonlyArray<Failure>, heading = "== failed"): ReadonlyArray<string> => {
  if (failures.length === 0) return []
  const named = failures.slice(0, failuresNamedMax)
  const share = Math.floor((charactersMax - charactersAround) / named.length)
  const more = failures.length - named.length
  return [
    heading,
    ...named.flatMap((failure) => linesOfFailure(failure, share)),
    ...(more > 0 ? [`and ${more} more`] : [])
  ]
}

/** How many tests held only when run again, and which: one line beside the counts; none where all held at once. */
export const flakyLine = (failures: ReadonlyArray<Failure>): ReadonlyArray<string> => {
  if (failures.length === 0) return []
  const names = failures.map(({ file, name }) => [...(file === null ? [] : [file, "›"]), plain(name)].join(" "))
  const share = Math.floor(flakyCharactersMax / Math.min(names.length, flakyNamedMax))
  const named = names.slice(0, flakyNamedMax).map((name) => clippedInside(name, share))
  const more = names.length - named.length
  return [`${names.length} flaky: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}`]
}

/** A file of tests, and how long it took from its first test to its last. */
export interface FileTime {
  readonly file: string
  readonly tookMs: number
}

const slowestNamedMax = 10
/** What is quicker is not where the time goes. */
const slowMs = 20_000

/** Where the time went: the files that took longest, in whole seconds; none where all were quick. */
export const slowestLines = (files: ReadonlyArray<FileTime>): ReadonlyArray<string> => {
  const slow = files.filter(({ tookMs }) => tookMs >= slowMs).toSorted((left, right) => right.tookMs - left.tookMs)
  if (slow.length === 0) return []
  const named = slow.slice(0, slowestNamedMax)
  return ["== slowest", ...named.map(({ file, tookMs }) => `${Math.round(tookMs / 1_000)} s ${file}`)]
}

/** What a program that checks has to say: the compiler's errors without its suggestions; all lines of others. */
export const failureOutside = (name: string, output: string): Failure => {
  const lines = linesOf(output)
  const errors = lines.filter((line) => line.includes(": error "))
  const telling = errors.length > 0 ? errors : lines
  const counted = telling.length > messageLinesMax ? ` (${telling.length} lines)` : ""
  return { ring: name, file: null, name: `failed${counted}`, message: telling.join("\n"), where: null }
}
