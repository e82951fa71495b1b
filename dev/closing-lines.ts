/**
 * The last lines of a test run, about its failures: each failure by its ring, file and full name, the first lines of
 * its message and its place; and failures outside of tests by their own first lines. Often only the last 4 kB of an
 * output are kept, so everything fits in those: the more failures, the less text for each.
 */

/** One failure, of a test or outside of tests. */
export interface Failure {
  /** The ring of tests, or the check that failed: `unit`, `fleet`, `types`, `lint`. */
  readonly ring: string
  /** Path from the root of the repository; null when no file is at fault. */
  readonly file: string | null
  /** Full name of the test; the suite's when its hook failed; what happened, when no test is at fault. */
  readonly name: string
  readonly message: string
  /** `path:line` of our code that threw, if known. */
  readonly where: string | null
}

/** The most failures that are named; of further ones only the number is given. */
export const failuresNamedMax = 20
/** The most characters in total: with the counts, and some letters of two bytes, they must fit in 4,096 bytes. */
export const charactersMax = 3_450
/** The most characters of names in the line of flaky tests, which stands between the failures and the counts. */
export const flakyCharactersMax = 240
/** The most names in that line; their messages stand further up. */
const flakyNamedMax = 3
/** Characters reserved for the heading, and for the number of further failures. */
const charactersAround = 40
const messageLinesMax = 4
const nameShare = 0.6
const indent = "    "

// Colour codes, which other programs write for terminals.
// oxlint-disable-next-line no-control-regex
const escapes = /\u{1b}\[[0-9;]*m/gu
const plain = (text: string) => text.replaceAll(escapes, "")

const clipped = (text: string, charactersMax: number) =>
  text.length <= charactersMax ? text : `${text.slice(0, Math.max(0, charactersMax - 1))}…`

// The end of a name tells tests of one suite apart, so the middle is cut.
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

/** Every failure in turn, bounded in number and in characters; empty without failures. */
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

/**
 * The number and names of tests that passed only when run again: one line beside the counts; empty when there are none.
 */
export const flakyLine = (failures: ReadonlyArray<Failure>): ReadonlyArray<string> => {
  if (failures.length === 0) return []
  const names = failures.map(({ file, name }) => [...(file === null ? [] : [file, "›"]), plain(name)].join(" "))
  const share = Math.floor(flakyCharactersMax / Math.min(names.length, flakyNamedMax))
  const named = names.slice(0, flakyNamedMax).map((name) => clippedInside(name, share))
  const more = names.length - named.length
  return [`${names.length} flaky: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}`]
}

/** A test file, and the time from its first test to its last. */
export interface FileTime {
  readonly file: string
  readonly tookMs: number
}

const slowestNamedMax = 10
/** Quicker files are not listed. */
const slowMs = 20_000

/** The slowest files, in whole seconds; empty when all were quick. */
export const slowestLines = (files: ReadonlyArray<FileTime>): ReadonlyArray<string> => {
  const slow = files.filter(({ tookMs }) => tookMs >= slowMs).toSorted((left, right) => right.tookMs - left.tookMs)
  if (slow.length === 0) return []
  const named = slow.slice(0, slowestNamedMax)
  return ["== slowest", ...named.map(({ file, tookMs }) => `${Math.round(tookMs / 1_000)} s ${file}`)]
}

/** The message of a checking program: the compiler's errors without its suggestions; all lines of others. */
export const failureOutside = (name: string, output: string): Failure => {
  const lines = linesOf(output)
  const errors = lines.filter((line) => line.includes(": error "))
  const relevant = errors.length > 0 ? errors : lines
  const counted = relevant.length > messageLinesMax ? ` (${relevant.length} lines)` : ""
  return { ring: name, file: null, name: `failed${counted}`, message: relevant.join("\n"), where: null }
}
