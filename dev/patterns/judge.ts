/** Which patterns may take more than linear time: recheck judges each that repeats something; an exception has its reason. */
import { createRequire } from "node:module"
import { availableParallelism } from "node:os"
import { check } from "recheck"
import type { Patterns } from "./patterns.ts"

const { version } = createRequire(import.meta.url)("recheck/package.json") as { readonly version: string }

/** Verdicts of another version count no more. */
export const judgedBy = `recheck ${version}`

/** A pattern of which nothing is known after this long is one that nobody can be sure of. */
const judgeMsMax = 300_000

/** By the file and the pattern, or the code that makes one: how long the text is at most, and who sees to that. */
export type Exceptions = Readonly<Record<string, string>>

export interface FileOfPatterns extends Patterns {
  readonly file: string
}

interface Judged {
  /** A line each, in the order of the files. */
  readonly faults: ReadonlyArray<string>
  /** All patterns that are safe, as they are kept. */
  readonly safe: ReadonlyArray<string>
}

/** `safeBefore` are patterns that need no verdict. */
export const judge = async (
  files: ReadonlyArray<FileOfPatterns>,
  exceptions: Exceptions,
  safeBefore: ReadonlySet<string>
): Promise<Judged> => {
  const excused = new Set<string>()
  const isExcused = (file: string, code: string) => {
    const isListed = Object.hasOwn(exceptions, `${file} ${code}`)
    if (isListed) excused.add(`${file} ${code}`)
    return isListed
  }
  const made = files.flatMap(({ file, made }) =>
    made.flatMap(({ line, code }) => (isExcused(file, code) ? [] : [`${file}:${line} ${code}: ${needsBound}`]))
  )
  const known = files.flatMap(({ file, known }) =>
    known.flatMap(({ line, source, flags }) => {
      const code = `/${source}/${flags}`
      return isExcused(file, code) ? [] : [{ place: `${file}:${line}`, code, source, flags }]
    })
  )
  const verdicts = await verdictsOf(new Map(known.map((each) => [each.code, each])), safeBefore)
  const slow = known.flatMap(({ place, code }) => {
    const verdict = verdicts.get(code)
    return verdict === undefined ? [] : [`${place} ${code}: ${verdict}`]
  })
  const stale = Object.keys(exceptions).filter((key) => !excused.has(key))
  return {
    faults: [...made, ...slow, ...stale.map((key) => `${key}: dev/patterns/exceptions.ts excuses what is not there`)],
    safe: [...new Set(known.filter(repeats).map(({ code }) => code))].filter((code) => !verdicts.has(code)).toSorted()
  }
}

const needsBound = "it is made when it runs: list in dev/patterns/exceptions.ts what bounds it"

interface Judgeable {
  readonly source: string
  readonly flags: string
}

/** What repeats nothing takes no more steps than it has characters. */
const repeats = ({ source }: Judgeable) => /[*+{]/u.test(source)

/** What is wrong, by pattern. */
const verdictsOf = async (patterns: ReadonlyMap<string, Judgeable>, safeBefore: ReadonlySet<string>) => {
  const verdicts = new Map<string, string>()
  const waiting = [...patterns].filter(([code, pattern]) => !safeBefore.has(code) && repeats(pattern)).values()
  const work = async () => {
    for (const [code, { source, flags }] of waiting) {
      const verdict = await verdictOf(source, flags)
      if (verdict !== undefined) verdicts.set(code, verdict)
    }
  }
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work))
  return verdicts
}

const verdictOf = async (source: string, flags: string): Promise<string | undefined> => {
  const found = await check(source, flags, { timeout: judgeMsMax })
  if (found.status === "safe") return undefined
  if (found.status === "unknown") return `recheck cannot judge it (${found.error.kind}): say it more simply`
  const { complexity, attack } = found
  if (complexity.type === "exponential") return `it takes exponential time, for example for ${cut(attack.pattern)}`
  const words = (source.match(/[A-Za-z]{3,}/gu) ?? []).map((word) => ({ prefix: "", pump: word }))
  for (const one of attacksLike({ pumps: [...attack.pumps, ...words], suffix: attack.suffix })) {
    const seen = grows(new RegExp(source, flags), one)
    if (seen !== undefined) return seen
  }
  return undefined
}

const cut = (text: string) => text.slice(0, 200)

interface Attack {
  readonly prefix: string
  readonly pump: string
  readonly suffix: string
}

/**
 * Of polynomial time recheck also speaks where a bounded repetition is searched anew from many places. So its attack is
 * tried, and others like it: a pump alone, without one of its characters, one character of it, a word of the pattern.
 */
const attacksLike = ({
  pumps,
  suffix
}: {
  readonly pumps: ReadonlyArray<Omit<Attack, "suffix">>
  readonly suffix: string
}): ReadonlyArray<Attack> =>
  pumps.flatMap(({ prefix, pump }) => {
    const characters = [...pump]
    const without = characters.map((_, at) => characters.toSpliced(at, 1).join("")).filter((one) => one !== "")
    const all = [...new Set([pump, ...characters, ...without])]
    return all.flatMap((one) => ["", suffix, "\0", "\n"].map((end) => ({ prefix, pump: one, suffix: end })))
  })

/** Sizes of texts; each is four times the one before. */
const sizes = [250, 1_000, 4_000, 16_000, 64_000]
const unseenMs = 30
/** Linear time is four times as long for the next size, quadratic time sixteen times. */
const growthMax = 8

/** How much longer a search takes for a longer text, where it is more than that text is longer. */
const grows = (pattern: RegExp, { prefix, pump, suffix }: Attack): string | undefined => {
  let beforeMs = Infinity
  for (const size of sizes) {
    const text = prefix + pump.repeat(Math.ceil(size / pump.length)) + suffix
    const dueMs = Math.max(unseenMs, growthMax * beforeMs)
    const tookMs = searchMs(pattern, text)
    // A second search, for one may have met the machine at its slowest.
    if (tookMs > dueMs && searchMs(pattern, text) > dueMs) {
      const example = cut(`${JSON.stringify(prefix)}, then ${JSON.stringify(pump)} again and again`)
      return `it takes ${tookMs.toFixed(0)} ms for ${size} characters, ${beforeMs.toFixed(1)} ms for a quarter: ${example}`
    }
    beforeMs = tookMs
  }
  return undefined
}

const searchMs = (pattern: RegExp, text: string) => {
  const before = process.threadCpuUsage()
  pattern.lastIndex = 0
  pattern.test(text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
