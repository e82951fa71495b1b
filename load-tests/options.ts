/** What a load test is asked on the command line. What cannot be meant is told before anything starts. Pure. */
import { parseArgs } from "node:util"

export interface LoadOptions {
  /** How long, of scenarios that last as long as they are told. */
  readonly minutes: number | undefined
  /** How much a second; of what, the scenario says. */
  readonly rate: number | undefined
  /** Of everything that is left to chance. */
  readonly seed: number
  /** Steps of scenarios that climb: events, endpoints or processes. */
  readonly sizes: ReadonlyArray<number> | undefined
  /** Every role in a process of its own. */
  readonly apart: boolean
  /** How often each part is repeated, of those that are. */
  readonly times: number
  /** With all processors at other work of a low priority. */
  readonly busy: boolean
  /** Where the reports go. */
  readonly out: string
}

export interface LoadOrder {
  readonly names: ReadonlyArray<string>
  readonly options: LoadOptions
  /** Options that were given, of those that not every scenario takes. */
  readonly given: ReadonlyArray<string>
}

export const minutesMax = 24 * 60
const sizeMax = 10_000_000

const positive = (name: string, text: string | undefined, most: number): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value > 0 && value <= most)) throw new Error(`--${name} ${text}? it is a number above 0, at most ${most}`)
  return value
}

const sizesOf = (text: string | undefined): ReadonlyArray<number> | undefined => {
  if (text === undefined) return undefined
  const sizes = text.split(",").map((part) => Number(part.replaceAll("_", "")))
  if (sizes.every((size) => Number.isInteger(size) && size >= 0 && size <= sizeMax)) return sizes
  throw new Error(`--sizes ${text}? it is whole numbers with commas between them, none above ${sizeMax}`)
}

const timesMax = 1_000

const timesOf = (text = "1"): number => {
  const times = Number(text)
  if (Number.isInteger(times) && times >= 1 && times <= timesMax) return times
  throw new Error(`--times ${text}? it is a whole number from 1 to ${timesMax}`)
}

/** Throws an Error whose message is for the person at the terminal. */
export const readOptions = (parameters: ReadonlyArray<string>, out: string): LoadOrder => {
  const { values, positionals } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: {
      minutes: { type: "string" },
      rate: { type: "string" },
      seed: { type: "string", default: "1" },
      sizes: { type: "string" },
      apart: { type: "boolean", default: false },
      times: { type: "string" },
      busy: { type: "boolean", default: false },
      out: { type: "string", default: out }
    }
  })
  const seed = Number(values.seed)
  if (!Number.isInteger(seed) || seed < 0) throw new Error(`--seed ${values.seed}? it is a whole number`)
  return {
    names: positionals,
    given: [
      ...(["minutes", "rate", "sizes", "times"] as const).filter((name) => values[name] !== undefined),
      ...(["apart", "busy"] as const).filter((name) => values[name])
    ],
    options: {
      minutes: positive("minutes", values.minutes, minutesMax),
      rate: positive("rate", values.rate, 100_000),
      seed,
      sizes: sizesOf(values.sizes),
      apart: values.apart,
      times: timesOf(values.times),
      busy: values.busy,
      out: values.out
    }
  }
}
