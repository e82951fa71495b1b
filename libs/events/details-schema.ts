/**
 * The JSON Schema (2020-12) of an event type's details. It is interpreted, never compiled to code. Its patterns take
 * time linear in the text, and a check ends after a bounded number of steps, whatever schema and details are. Formats
 * are annotations, as in the standard's own dialect. Pure.
 */
import { Result } from "effect"
import {
  compileSchema,
  draft2020,
  isSchemaNode,
  type JsonError,
  type Keyword,
  type SchemaNode
} from "json-schema-library"
import type { Fault } from "#base"
import { sortedJson } from "#base/json"
import { linearPattern, type LinearPattern } from "./linear-pattern.ts"

/** Checks details; without faults they are valid. Paths are JSON pointers into the details. */
export type DetailsCheck = (details: unknown) => ReadonlyArray<Fault>

// A schema of a thousand documented properties fits.
const schemaBytesMax = 64 * 1_024
// Each level of objects in the details takes two levels of the schema.
const schemaDepthMax = 32
// A check of an ordinary event takes some tens of steps; this many take about a tenth of a second.
const stepsMax = 100_000
// Objects and lists of details in one another, at two or three keywords for each. A schema that refers to itself without
// a step into the details ends here too.
const depthMax = 300
// A fault is made from the schema and the value around it.
const stepsOfFault = 20
// For `unevaluatedProperties` and `unevaluatedItems` the library merges, at each part of the details, all that applies.
const stepsOfReduction = 50
const stepsOfMerging = 10
const faultsMax = 50
const dialect = "https://json-schema.org/draft/2020-12/schema"

/** A schema as a check. Fails with all that is wrong with the schema; the paths point into it. */
export const detailsCheck = (schema: object): Result.Result<DetailsCheck, ReadonlyArray<Fault>> => {
  const unsafe = faultsOfForm(schema)
  if (unsafe.length > 0) return Result.fail(unsafe)
  const steps = { left: 0, depth: 0 }
  // What a schema calls itself counts for nothing: it is known by its event type.
  const { $id: _, ...unnamed } = schema as Record<string, unknown>
  const node = compileSchema(unnamed, { drafts: [{ ...draft2020, formats: {}, keywords: boundedKeywords(steps) }] })
  const faults = (node.schemaErrors ?? []).map(faultOf)
  return faults.length > 0 ? Result.fail(faults) : Result.succeed((details) => check(node, steps, details))
}

const check = (node: SchemaNode, steps: Steps, details: unknown): ReadonlyArray<Fault> => {
  steps.left = stepsMax
  steps.depth = 0
  try {
    return node.validate(details).errors.slice(0, faultsMax).map(faultOf)
  } catch (error) {
    if (error !== tooManySteps) throw error
    return [{ path: "", message: "checking it against its schema takes too long" }]
  }
}

/** The library names places as `#/a/0`, in its messages too. */
const faultOf = ({ message, data }: JsonError): Fault => ({
  path: data.pointer.replace(/^#/u, ""),
  message: message.replace(/^Invalid schema found at [^:]*: /u, "").replaceAll(/ (?:in|at) `#[^`]*`/gu, "")
})

/** What makes a schema unfit to be compiled at all: its size, its depth, and what it refers to. */
const faultsOfForm = (schema: object): ReadonlyArray<Fault> => {
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > schemaBytesMax) return [{ path: "", message: `it has ${bytes} bytes, of ${schemaBytesMax} allowed` }]
  const anchors = new Set<unknown>()
  const references: Array<Fault & { readonly target: string }> = []
  const faults: Array<Fault> = []
  const visit = (value: unknown, path: string, depth: number): void => {
    if (typeof value !== "object" || value === null || faults.length >= faultsMax) return
    if (depth > schemaDepthMax) return void faults.push({ path, message: `it is deeper than ${schemaDepthMax} levels` })
    for (const [key, part] of Object.entries(value)) {
      const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`
      if (typeof part !== "string") visit(part, at, depth + 1)
      else if (key === "$anchor" || key === "$dynamicAnchor") anchors.add(part)
      else if (key === "$ref" || key === "$dynamicRef") references.push({ path: at, target: part, message: "" })
      else if (key === "$id" && path !== "")
        faults.push({ path: at, message: "a part of a schema has no $id of its own" })
      else if (key === "$schema" && part.replace(/#$/u, "") !== dialect) {
        faults.push({ path: at, message: `the schema's dialect is ${dialect}` })
      }
    }
  }
  visit(schema, "", 0)
  const isThere = (target: string) =>
    target.startsWith("#") && (isPointer(target) ? pointsAt(schema, target) : anchors.has(target.slice(1)))
  for (const { path, target } of references) {
    if (!isThere(target)) faults.push({ path, message: `${JSON.stringify(target)} is no place within the schema` })
  }
  return faults.slice(0, faultsMax)
}

const isPointer = (target: string) => target === "#" || target.startsWith("#/")

const pointsAt = (schema: object, target: string): boolean => {
  let at: unknown = schema
  for (const step of target.slice(1).split("/").slice(1)) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false
    at = (at as Record<string, unknown>)[key]
  }
  return typeof at === "boolean" || (typeof at === "object" && at !== null && !Array.isArray(at))
}

const decoded = (step: string) => {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

interface Steps {
  left: number
  /** How many keywords are being checked within one another. */
  depth: number
}

// One for all, without a stack.
const tooManySteps: unknown = Object.freeze({ tooManySteps: true })

/** The keywords of the dialect, each of which counts its steps. */
const boundedKeywords = (steps: Steps): Array<Keyword> => {
  const patterns = new Map<string, Result.Result<LinearPattern, string>>()
  const patternOf = (source: string) => {
    const known = patterns.get(source)
    if (known !== undefined) return known
    const made = Result.map(linearPattern(source), (pattern) => counting(pattern, steps))
    patterns.set(source, made)
    return made
  }
  return draft2020.keywords.map((keyword) => {
    if (keyword.keyword === "pattern") return counted(withLinearPattern(keyword, patternOf), steps)
    if (keyword.keyword === "patternProperties") return counted(withLinearNames(keyword, patternOf), steps)
    if (keyword.keyword === "$ref") return counted(withKnownTargets(keyword), steps)
    return counted(keyword.keyword === "uniqueItems" ? uniqueItems(keyword) : keyword, steps)
  })
}

const take = (steps: Steps, count: number) => {
  steps.left -= count
  if (steps.left < 0) throw tooManySteps
}

const counting = (pattern: LinearPattern, steps: Steps): LinearPattern => ({
  ...pattern,
  test: (text) => {
    take(steps, pattern.stepsFor(text))
    return pattern.test(text)
  }
})

const counted = (keyword: Keyword, steps: Steps): Keyword => {
  const { validate, reduce } = keyword
  const cost = (schema: unknown) => 1 + breadth((schema as Record<string, unknown>)[keyword.keyword])
  return {
    ...keyword,
    ...(validate && {
      validate: Object.assign((options: Parameters<typeof validate>[0]) => {
        take(steps, cost(options.node.schema))
        steps.depth += 1
        if (steps.depth > depthMax) throw tooManySteps
        const found = validate(options)
        steps.depth -= 1
        if (found !== undefined) take(steps, Array.isArray(found) ? found.length * stepsOfFault : stepsOfFault)
        return found
      }, validate)
    }),
    ...(reduce && {
      reduce: Object.assign((options: Parameters<typeof reduce>[0]) => {
        take(steps, stepsOfReduction + stepsOfMerging * cost(options.node.schema) ** 2)
        return reduce(options)
      }, reduce)
    })
  }
}

/** Of how many parts a keyword's value consists: the entries of an enum, the properties of an object. */
const breadth = (value: unknown) => (typeof value === "object" && value !== null ? Object.keys(value).length : 0)

type PatternOf = (source: string) => Result.Result<LinearPattern, string>

const faultOfPattern = (node: SchemaNode, keyword: string, message: string) =>
  node.createError("schema-error", {
    pointer: `${node.schemaLocation}/${keyword}`,
    schema: node.schema,
    value: undefined,
    message
  })

const withLinearPattern = (keyword: Keyword, patternOf: PatternOf): Keyword => ({
  ...keyword,
  parse: (node) => {
    const source: unknown = node.schema["pattern"]
    if (typeof source !== "string") return keyword.parse?.(node)
    const pattern = patternOf(source)
    if (Result.isFailure(pattern)) return faultOfPattern(node, "pattern", pattern.failure)
    // Of a RegExp the library uses `test` alone.
    node.pattern = pattern.success as unknown as RegExp
    return undefined
  }
})

const withLinearNames = (keyword: Keyword, patternOf: PatternOf): Keyword => ({
  ...keyword,
  parse: (node) => {
    const names = Object.keys(Object(node.schema["patternProperties"]))
    const faults = names.flatMap((name) => {
      const pattern = patternOf(name)
      return Result.isFailure(pattern) ? [faultOfPattern(node, "patternProperties", pattern.failure)] : []
    })
    if (faults.length > 0) return faults
    const found = keyword.parse?.(node)
    if (node.patternProperties !== undefined) {
      node.patternProperties = node.patternProperties.map((each) => ({
        ...each,
        pattern: Result.getOrThrow(patternOf(each.name)) as unknown as RegExp
      }))
    }
    return found
  }
})

/** The library compiles the target of a reference each time that it follows it. */
const withKnownTargets = (keyword: Keyword): Keyword => {
  const targets = new WeakMap<SchemaNode, SchemaNode>()
  return {
    ...keyword,
    validate: (options) => {
      const { node, data, pointer, path } = options
      if (node.schema["$dynamicRef"] !== undefined) return keyword.validate?.(options)
      const known = targets.get(node)
      const target = known ?? node.resolveRef({ pointer, path })
      if (!isSchemaNode(target)) return keyword.validate?.(options)
      if (known === undefined) targets.set(node, target)
      else path.push({ pointer, node: target })
      return target.validate(data, pointer, path).errors
    }
  }
}

/** In place of the library's, which compares each with each. */
const uniqueItems = (keyword: Keyword): Keyword => ({
  ...keyword,
  validate: ({ node, data, pointer }) => {
    if (!Array.isArray(data)) return undefined
    const seen = new Set<string>()
    for (const [index, item] of data.entries()) {
      const text = sortedJson(item)
      if (seen.has(text)) {
        const at = { pointer: `${pointer}/${index}`, duplicatePointer: pointer, arrayPointer: pointer }
        return node.createError("unique-items-error", { ...at, value: "", schema: node.schema })
      }
      seen.add(text)
    }
    return undefined
  }
})
