/**
 * What went wrong in a measurement, said in a sentence: for the person at the terminal, and beside the figures that were
 * made until then. Pure.
 */
import { environmentKeys } from "#configuration"

export interface Failure {
  readonly sentence: string
  /** For who looks for the place; never shown on the terminal. */
  readonly detail: string
  /** Something that a measurement needs is not on this machine: the others will not find it either. */
  readonly isMissing: boolean
}

interface Known {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly path?: unknown
  readonly _tag?: unknown
  readonly cause?: unknown
}

const causesMax = 8

/** The error and what it was caused by. */
const chainOf = (error: unknown): ReadonlyArray<unknown> => {
  const chain: Array<unknown> = []
  for (let at = error; at !== undefined && chain.length < causesMax; at = (at as Known | null)?.cause) chain.push(at)
  return chain
}

const missingTags: ReadonlySet<unknown> = new Set(["AnvilMissing", "HearingMissing"])

const missingProgram = (error: unknown): string | undefined => {
  const { code, syscall, path, _tag } = (error ?? {}) as Known
  if (missingTags.has(_tag)) return messageOf(error)
  const isSpawn = code === "ENOENT" && typeof syscall === "string" && syscall.startsWith("spawn")
  return isSpawn
    ? `the program ${String(path)} is not on this machine; ./starling load installs what it can`
    : undefined
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** A log's last line says more than that there was an end. */
const lastWords = (lines: ReadonlyArray<string>): string => {
  const last = lines.at(-1) ?? ""
  try {
    const { message } = JSON.parse(last) as { readonly message?: unknown }
    return typeof message === "string" ? message : last
  } catch {
    return last
  }
}

export const failureOf = (part: string, error: unknown, busy: string): Failure => {
  const chain = chainOf(error)
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const missing = chain.map(missingProgram).find((text) => text !== undefined)
  if (missing !== undefined) return { sentence: `${part} could not be measured: ${missing}`, detail, isMissing: true }
  const [first = "", ...rest] = messageOf(error)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  const words = rest.length === 0 ? first : `${first} ${lastWords(rest)}`
  return {
    sentence: `${part} was not measured to its end: ${words.slice(0, 1_000)} (${busy})`,
    detail,
    isMissing: false
  }
}

const configurationVariables: ReadonlySet<string> = new Set(environmentKeys.map(({ variable }) => variable))
// What `./starling` itself, the compiler's cache and the tools go by.
const own = new Set([
  "STARLING_HOME",
  "STARLING_TOOLS",
  "STARLING_CALLED_FROM",
  "STARLING_NATS_SERVER",
  "STARLING_REPORTS"
])

/**
 * Variables that would configure a fleet that is measured: somebody's shell may have the ports and the broker of another
 * one, and a measurement brings its own.
 */
export const fleetVariables = (names: Iterable<string>): ReadonlyArray<string> =>
  [...names]
    .filter(
      (name) =>
        configurationVariables.has(name) || name.startsWith("NATS_") || (name.startsWith("STARLING_") && !own.has(name))
    )
    .toSorted()
