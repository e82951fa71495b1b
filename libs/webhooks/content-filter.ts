/**
 * Content filters at work: compiled once to functions, which answer in time linear in the event. A list in an event
 * fits if one of its elements does; of a list of objects, one object must fit as a whole. A filter compares with
 * strings, numbers, booleans and null alone: to `exists`, as to EventBridge, an object or an empty list is no value.
 * Pure.
 */
import type {
  FilterAffix,
  FilterAlternative,
  FilterComparison,
  ContentFilter,
  FilterRange,
  FilterScalar
} from "#webhooks/contract"

type Fields = Readonly<Record<string, unknown>>

/** Whether a value fits; undefined is a field that is absent. */
type Fits = (value: unknown) => boolean

/** Whether an event's content fits, by its envelope. */
export const compileContentFilter = (filter: ContentFilter): Fits => nested(filter)

/** The field that an event fails first, as a JSON pointer, and what is there; undefined if it fits. */
export const firstMismatch = (
  filter: ContentFilter,
  envelope: unknown
): { readonly path: string; readonly found: unknown } | undefined => {
  const [object = absent] = objectsIn(envelope)
  for (const [key, inner] of Object.entries(filter)) {
    if (key === "$or") {
      if (!anyOf(inner as ReadonlyArray<ContentFilter>)(object)) return { path: "/$or", found: undefined }
      continue
    }
    const found = own(object, key)
    if (fieldTest(inner)(found)) continue
    const within = Array.isArray(inner) ? undefined : firstMismatch(inner as ContentFilter, found)
    const path = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`
    return within === undefined ? { path, found } : { path: path + within.path, found: within.found }
  }
  return undefined
}

const absent: Fields = {}

const isScalar = (value: unknown): value is FilterScalar =>
  typeof value === "object" ? value === null : value !== undefined

const isObject = (value: unknown): value is Fields => !isScalar(value) && value !== undefined && !Array.isArray(value)

/** What a list holds, and lists in it, however deep. Nothing if it is no list. */
function* elementsOf(value: unknown): Generator<unknown> {
  const lists: Array<ReadonlyArray<unknown>> = Array.isArray(value) ? [value] : []
  for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
    for (const element of list) {
      if (Array.isArray(element)) lists.push(element)
      else yield element
    }
  }
}

function* objectsIn(value: unknown): Generator<Fields> {
  if (isObject(value)) yield value
  for (const element of elementsOf(value)) if (isObject(element)) yield element
}

const own = (object: Fields, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)

const nested = (filter: ContentFilter): Fits => {
  const all = allOf(filter)
  return (value) => {
    if (isObject(value)) return all(value)
    let hasObject = false
    for (const object of objectsIn(value)) {
      if (all(object)) return true
      hasObject = true
    }
    return !hasObject && all(absent)
  }
}

type FitsObject = (object: Fields) => boolean

const allOf = (filter: ContentFilter): FitsObject => {
  const entries = Object.entries(filter).toSorted(([, left], [, right]) => selectivity(right) - selectivity(left))
  const [first = always, ...others] = entries.map(([key, inner]): FitsObject => {
    if (key === "$or") return anyOf(inner as ReadonlyArray<ContentFilter>)
    const fits = fieldTest(inner)
    // Only these names are found where an object has none itself.
    return key in absent ? (object) => fits(own(object, key)) : (object) => fits(object[key])
  })
  if (others.length === 0) return first
  return (object) => first(object) && others.every((test) => test(object))
}

const always: FitsObject = () => true

/** What asks for a certain value refuses most events, so it is asked first. */
const selectivity = (inner: ContentFilter[string]): number =>
  Array.isArray(inner) ? Number(inner.every(isScalar)) : Math.max(...Object.values(inner).map(selectivity))

const anyOf = (filters: ReadonlyArray<ContentFilter>): FitsObject => {
  const branches = filters.map(allOf)
  return (object) => branches.some((branch) => branch(object))
}

const fieldTest = (inner: ContentFilter[string]): Fits =>
  Array.isArray(inner) ? leaf(inner as ReadonlyArray<FilterAlternative>) : nested(inner as ContentFilter)

const leaf = (alternatives: ReadonlyArray<FilterAlternative>): Fits => {
  const equals = new Set<unknown>(alternatives.filter(isScalar))
  const operators = alternatives.flatMap((each) => (isScalar(each) ? [] : [each]))
  const tests = operators.flatMap(testsOf)
  const mayBeAbsent = operators.some((operator) => "exists" in operator && !operator.exists)
  const fits: Fits =
    tests.length === 0
      ? (value) => equals.has(value)
      : (value) => equals.has(value) || tests.some((test) => test(value))
  return (value) => {
    if (isScalar(value)) return fits(value)
    let hasValue = false
    for (const scalar of elementsOf(value)) {
      if (!isScalar(scalar)) continue
      if (fits(scalar)) return true
      hasValue = true
    }
    return mayBeAbsent && !hasValue
  }
}

const testsOf = (operator: Exclude<FilterAlternative, FilterScalar>): ReadonlyArray<Fits> => {
  if ("exists" in operator) return operator.exists ? [() => true] : []
  if ("numeric" in operator) return [inRange(operator.numeric)]
  if (!("anything-but" in operator)) return [affixTest(operator)]
  const { "anything-but": but } = operator
  if (isObject(but)) {
    const has = affixTest(but as FilterAffix)
    return [(value) => !has(value)]
  }
  const refused = new Set<unknown>(Array.isArray(but) ? but : [but])
  return [(value) => !refused.has(value)]
}

const affixTest = (affix: FilterAffix): Fits =>
  "prefix" in affix
    ? (value) => typeof value === "string" && value.startsWith(affix.prefix)
    : (value) => typeof value === "string" && value.endsWith(affix.suffix)

const inRange = ([comparison, bound, second = comparison, other = bound]: FilterRange): Fits => {
  const [isIn, isInToo] = [comparisons[comparison], comparisons[second]]
  return (value) => typeof value === "number" && isIn(value, bound) && isInToo(value, other)
}

const comparisons: Readonly<Record<FilterComparison, (value: number, bound: number) => boolean>> = {
  "=": (value, bound) => value === bound,
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound
}
