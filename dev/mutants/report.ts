/** What a run of mutants says. Pure. */
import type { Mutant } from "./mutant.ts"
import type { Tried } from "./trial.ts"

const shownMax = 240
const cut = (code: string) => (code.length > shownMax ? `${code.slice(0, shownMax)} …` : code)

export const lineOf = ({ file, line, operator, before, after }: Mutant) =>
  `${file}:${line} ${operator}: ${cut(before)}  →  ${cut(after)}`

/** `unasked`: the tests that use the file and were not asked. */
export const survivorLine = ({ mutant, tests }: Pick<Tried, "mutant" | "tests">, unasked: number) => {
  if (unasked > 0) return `${lineOf(mutant)}  (${unasked} slower tests were not asked)`
  return `${lineOf(mutant)}${tests === 0 ? "  (no test imports it)" : ""}`
}

export interface Run {
  readonly room: string
  readonly tried: ReadonlyArray<Tried>
  readonly equivalent: number
  readonly seconds: number
  readonly seed: number
}

/** Of all that could be noticed, what part was, in per cent; 100 where there was nothing. */
export const scoreOf = (tried: ReadonlyArray<Tried>) =>
  tried.length === 0 ? 100 : (100 * tried.filter(({ verdict }) => verdict !== "survived").length) / tried.length

export const lastLine = ({ room, tried, equivalent, seconds, seed }: Run) => {
  const late = tried.filter(({ verdict }) => verdict === "timed out").length
  const noticed = tried.filter(({ verdict }) => verdict !== "survived").length
  return (
    `${room}: ${noticed}/${tried.length} noticed, ${scoreOf(tried).toFixed(1)} % (${late} timed out, ` +
    `${equivalent} equivalent left out), ${seconds.toFixed(0)} s, seed ${seed}`
  )
}
