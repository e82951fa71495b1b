/**
 * `ContentFilter`: which events an endpoint gets, by what their envelopes hold. It is written like an event pattern of
 * EventBridge (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html), of which it
 * takes the operators below.
 */
import { Schema } from "effect"

export type FilterScalar = string | number | boolean | null

export type FilterAffix = { readonly prefix: string } | { readonly suffix: string }

export type FilterComparison = "=" | "<" | "<=" | ">" | ">="

/** One comparison, or a lower bound and an upper one. */
export type FilterRange =
  | readonly [FilterComparison, number]
  | readonly [FilterComparison, number, FilterComparison, number]

/** One way in which a field can fit. */
export type FilterAlternative =
  | FilterScalar
  | FilterAffix
  | { readonly exists: boolean }
  | { readonly numeric: FilterRange }
  | { readonly "anything-but": FilterScalar | ReadonlyArray<FilterScalar> | FilterAffix }

/** All its fields must fit. A list is a field's alternatives; of `$or`, one filter must fit. */
export interface ContentFilter {
  readonly [field: string]: ContentFilter | ReadonlyArray<FilterAlternative> | ReadonlyArray<ContentFilter>
}

// Envelopes nest four deep; this leaves room for details of others.
const depthMax = 10
// A filter is tried on every event that its endpoint's names choose: some microseconds at this many.
const alternativesMax = 256
// What EventBridge takes at most; a quarter of what all settings of an endpoint may have.
const charactersMax = 4_096
// More than anybody corrects at once.
const issuesMax = 50

interface Issue {
  readonly path: ReadonlyArray<PropertyKey>
  readonly issue: string
}

/** What is wrong with a filter. It ends at the bounds, however deep or long the input. */
const issuesOf = (filter: Readonly<Record<string, unknown>>): ReadonlyArray<Issue> => {
  const issues: Array<Issue> = []
  let alternatives = 0
  const isEnough = () => issues.length >= issuesMax || alternatives > alternativesMax
  const note = (path: Issue["path"], issue: string | undefined) => {
    if (issue !== undefined && !isEnough()) issues.push({ path, issue })
  }
  const object = (inner: unknown, path: Issue["path"], depth: number): void => {
    if (!isObject(inner)) return note(path, 'is a filter, such as { "event": ["work_item.merged"] }')
    const keys = Object.keys(inner)
    if (keys.length === 0) return note(path, "is empty")
    if (depth > depthMax) return note(path, `is more than ${depthMax} deep`)
    for (const key of keys) {
      if (isEnough()) return
      field(key, inner[key], { path: [...path, key], depth })
    }
  }
  const field = (key: string, inner: unknown, { path, depth }: Pick<Issue, "path"> & { readonly depth: number }) => {
    if (key === "$or") return branches(inner, path, depth)
    if (isObject(inner)) return object(inner, path, depth + 1)
    if (!Array.isArray(inner))
      return note(path, 'is a list of alternatives, such as ["merged"], or an object of fields')
    if (inner.length === 0) return note(path, "is empty")
    for (const [at, alternative] of inner.entries()) {
      if (isEnough()) return
      alternatives += weightOf(alternative)
      note([...path, at], alternativeIssue(alternative))
    }
  }
  const branches = (inner: unknown, path: Issue["path"], depth: number) => {
    if (!Array.isArray(inner) || inner.length < 2) return note(path, "is a list of two filters or more")
    for (const [at, branch] of inner.entries()) {
      if (isEnough()) return
      object(branch, [...path, at], depth + 1)
    }
  }
  object(filter, [], 1)
  if (alternatives > alternativesMax) return [{ path: [], issue: `has more than ${alternativesMax} alternatives` }]
  if (issues.length > 0 || JSON.stringify(filter).length <= charactersMax) return issues
  return [{ path: [], issue: `has more than ${charactersMax} characters` }]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isScalar = (value: unknown): value is FilterScalar =>
  value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)

/** The values that an alternative compares with. */
const weightOf = (alternative: unknown) => {
  const but = isObject(alternative) ? alternative["anything-but"] : undefined
  return Array.isArray(but) ? but.length : 1
}

const alternativeIssue = (alternative: unknown): string | undefined => {
  if (isScalar(alternative)) return undefined
  const [name, ...others] = isObject(alternative) ? Object.keys(alternative) : []
  if (!isObject(alternative) || name === undefined || others.length > 0) {
    return "is a string, number, boolean or null, or an object with one operator"
  }
  const operator = Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined
  if (operator === undefined)
    return `there is no operator ${name.slice(0, 100)}; there are ${Object.keys(operators).join(", ")}`
  return operator(alternative[name])
}

const textIssue = (value: unknown) =>
  typeof value === "string" && value !== "" ? undefined : "takes a string that is not empty"

const butIssue = (value: unknown) => {
  if (isScalar(value)) return undefined
  if (Array.isArray(value)) return value.length > 0 && value.every(isScalar) ? undefined : butText
  const [name, ...others] = isObject(value) ? Object.keys(value) : []
  if (!isObject(value) || (name !== "prefix" && name !== "suffix") || others.length > 0) return butText
  return textIssue(value[name])
}
const butText = "anything-but takes a value, a list of them, a prefix or a suffix"

const isComparison = (value: unknown): value is FilterComparison =>
  ["=", "<", "<=", ">", ">="].includes(value as string)

const numericIssue = (value: unknown) => {
  if (!Array.isArray(value)) return numericText
  const [first, low, second, high] = value as ReadonlyArray<unknown>
  if (!isComparison(first) || !isNumber(low)) return numericText
  if (value.length === 2) return undefined
  const isRange = first.startsWith(">") && (second === "<" || second === "<=") && isNumber(high)
  if (value.length !== 4 || !isRange) return numericText
  const isBothIn = first === ">=" && second === "<="
  return low < high || (low === high && isBothIn) ? undefined : "no number is in that range"
}
const numericText = 'numeric takes a comparison, [">", 5], or a lower and an upper bound, [">", 5, "<=", 9]'

const isNumber = (value: unknown): value is number => Number.isFinite(value)

const operators = {
  prefix: textIssue,
  suffix: textIssue,
  exists: (value: unknown) => (typeof value === "boolean" ? undefined : "exists takes true or false"),
  numeric: numericIssue,
  "anything-but": butIssue
}

const mayBeFilter = (value: Readonly<Record<string, unknown>>): value is ContentFilter => isObject(value)

export const ContentFilter = Schema.Record(Schema.String, Schema.Unknown)
  .pipe(Schema.refine(mayBeFilter))
  .check(Schema.makeFilter(issuesOf))
