/**
 * Values from outside, decoded by a schema within bounds. A value that fits costs one quick pass, which ends at the
 * first fault. Only then are more faults searched for, in an excerpt if the value is large: a fault costs as much as a
 * hundred valid elements. At most fifty are listed. Pure.
 */
import { Result, Schema, type SchemaAST, SchemaIssue } from "effect"
import type { Fault } from "../primitives.ts"

const faultsMax = 50
// A key can be as long as its value, and a check can quote what it checks.
const keyUnitsMax = 100
const messageUnitsMax = 500

type Path = ReadonlyArray<PropertyKey>

interface PathFault {
  readonly path: Path
  readonly message: string
}

export interface DecodingFaults {
  /** At most fifty, and at least one. */
  readonly listed: ReadonlyArray<PathFault>
  /** Decoding stopped before it had checked everything. */
  readonly mayBeMore: boolean
}

export type BoundedDecoder<A> = (value: unknown) => Result.Result<A, DecodingFaults>

/** Created once per schema. */
export const boundedDecoder = <A, I>(
  schema: Schema.Codec<A, I>,
  options: Pick<SchemaAST.ParseOptions, "onExcessProperty"> = {}
): BoundedDecoder<A> => {
  const decodeFirst = Schema.decodeUnknownResult(schema, options)
  const decodeAll = Schema.decodeUnknownResult(schema, { ...options, errors: "all" })
  return (value) => {
    const decoded = decodeFirst(value)
    if (Result.isSuccess(decoded)) return Result.succeed(decoded.success)
    const found = pathFaults(decoded.failure.issue)
    const begun = excerptOf(value, [])
    const excerpt = begun.isCut ? excerptOf(value, found[0]?.path ?? []) : begun
    const all = decodeAll(excerpt.value)
    const more = Result.isSuccess(all) ? [] : pathFaults(all.failure.issue)
    return Result.fail(listing(found, more, excerpt))
  }
}

/** The faults with JSON pointers. The last one notes that there can be more. */
export const pointedFaults = ({ listed, mayBeMore }: DecodingFaults): ReadonlyArray<Fault> => [
  ...listed.map(({ path, message }) => ({ path: path.map((step) => `/${String(step)}`).join(""), message })),
  ...(mayBeMore ? [{ path: "", message: moreFaults }] : [])
]

export const moreFaults = "there may be more faults, for checking stopped here"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const pathFaults = (issue: SchemaIssue.Issue): ReadonlyArray<PathFault> =>
  format(issue).issues.map(({ path = [], message }) => ({
    path: path.map((step) => (typeof step === "object" ? step.key : step)),
    message
  }))

const listing = (
  found: ReadonlyArray<PathFault>,
  more: ReadonlyArray<PathFault>,
  { isCut, inValue }: Excerpt
): DecodingFaults => {
  const isNew = ({ path, message }: PathFault) =>
    !found.some((one) => one.message === message && String(one.path) === String(path))
  const all = isCut ? [...found, ...more.flatMap((fault) => inValue(fault) ?? []).filter(isNew)] : more
  const listed = all.slice(0, faultsMax).map(({ path, message }) => ({
    path: path.map((step) => (typeof step === "string" ? step.slice(0, keyUnitsMax) : step)),
    message: message.slice(0, messageUnitsMax)
  }))
  return { listed, mayBeMore: isCut || all.length > faultsMax }
}

interface Excerpt {
  readonly value: unknown
  readonly isCut: boolean
  /** A fault of the excerpt mapped to its place in the value; undefined if the truncation caused it. */
  readonly inValue: (fault: PathFault) => PathFault | undefined
}

// Even if all of them are wrong, this many elements and keys take about 10 ms.
const excerptMax = 1_000

/**
 * The part of a large value that begins with its first fault; a small one unchanged. The reader has bounded the depth.
 */
const excerptOf = (value: unknown, firstFault: Path): Excerpt => {
  let left = excerptMax
  let cuts = 0
  const cut: Cut = { holders: new WeakSet(), offsets: new WeakMap() }
  const partOf = (whole: unknown, toFault: Path): unknown => {
    if (!isObject(whole)) return whole
    const before = cuts
    const part = Array.isArray(whole) ? elementsOf(whole, toFault) : fieldsOf(whole, toFault)
    if (cuts > before) cut.holders.add(part)
    return part
  }
  const elementsOf = (whole: ReadonlyArray<unknown>, [step, ...toFault]: Path) => {
    const from = typeof step === "number" && whole.length > left ? step : 0
    const part: Array<unknown> = []
    cut.offsets.set(part, from)
    for (let at = from; at < whole.length && left > 0; at += 1) {
      left -= 1
      part.push(partOf(whole[at], at === step ? toFault : []))
    }
    if (part.length < whole.length) cuts += 1
    return part
  }
  const fieldsOf = (whole: object, [step, ...toFault]: Path) => {
    const part = new Map<string, unknown>()
    const keys = Object.keys(whole)
    for (const key of typeof step === "string" && Object.hasOwn(whole, step) ? [step, ...keys] : keys) {
      if (part.has(key)) continue
      if (left <= 0) break
      left -= 1
      part.set(key, partOf(within(whole, key), key === step ? toFault : []))
    }
    if (part.size < keys.length) cuts += 1
    return Object.fromEntries(part)
  }
  const part = partOf(value, firstFault)
  return {
    value: cuts === 0 ? value : part,
    isCut: cuts > 0,
    inValue: ({ path, message }) => {
      const placed = placeOf(path, value, part, cut)
      return placed === undefined ? undefined : { path: placed, message }
    }
  }
}

interface Cut {
  /** Truncated arrays and objects of the excerpt, at any depth. */
  readonly holders: WeakSet<object>
  /** Where an array of the excerpt begins in the value's array. */
  readonly offsets: WeakMap<object, number>
}

/**
 * The path in the value. None for a fault about something truncated, or missing because of the truncation: it is
 * untrue.
 */
const placeOf = (path: Path, value: unknown, excerpt: unknown, cut: Cut): Path | undefined => {
  const placed: Array<PropertyKey> = []
  let [whole, part]: ReadonlyArray<unknown> = [value, excerpt]
  for (const step of path) {
    const there: PropertyKey = typeof step === "number" && isObject(part) ? step + (cut.offsets.get(part) ?? 0) : step
    placed.push(there)
    if (isIn(there, whole) && !isIn(step, part)) return undefined
    whole = within(whole, there)
    part = within(part, step)
  }
  return isObject(part) && cut.holders.has(part) ? undefined : placed
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const isIn = (step: PropertyKey, value: unknown) => isObject(value) && Object.hasOwn(value, step)

const within = (value: unknown, step: PropertyKey): unknown =>
  isIn(step, value) ? (value as Readonly<Record<PropertyKey, unknown>>)[step] : undefined
