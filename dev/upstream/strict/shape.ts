/** The keys that a dialect knows, and the first key or value of a request that does not fit them. Pure. */
import { isJson, type Json } from "../json.ts"

type Leaf = "any" | "text" | "number" | "integer" | "flag" | "object"

export type Shape =
  | { readonly _tag: "Leaf"; readonly leaf: Leaf }
  | { readonly _tag: "Keys"; readonly keys: Keys; readonly required: ReadonlyArray<string> }
  | { readonly _tag: "List"; readonly of: Shape; readonly orText: boolean }
  | { readonly _tag: "Kinds"; readonly kinds: Kinds }

type Keys = Readonly<Record<string, Shape>>

interface Kinds {
  /** The key that tells them apart. */
  readonly by: string
  readonly of: Keys
  /** The kind of an object without that key. */
  readonly otherwise?: string
  /** Anthropic's paths name the kind that was found. */
  readonly isInPath?: true
  readonly orText?: true
}

export type Step = string | number

export interface Fault {
  readonly path: ReadonlyArray<Step>
  readonly what:
    | { readonly _tag: "Unknown" }
    | { readonly _tag: "Missing" }
    | { readonly _tag: "Type"; readonly wanted: Wanted; readonly found: unknown }
    | { readonly _tag: "Kind"; readonly by: string; readonly found: string; readonly known: ReadonlyArray<string> }
}

export type Wanted = Exclude<Leaf, "any"> | "list" | "text or list" | "text or object"

const leaf = (of: Leaf): Shape => ({ _tag: "Leaf", leaf: of })

export const any = leaf("any")
export const text = leaf("text")
export const number = leaf("number")
export const integer = leaf("integer")
export const flag = leaf("flag")
/** With any keys. */
export const anyKeys = leaf("object")

/** Names of keys in one string, with blanks between them. */
const named = (names: string) => (names === "" ? [] : names.split(" "))

export const keys = (of: Keys, required = ""): Shape => ({ _tag: "Keys", keys: of, required: named(required) })
export const list = (of: Shape): Shape => ({ _tag: "List", of, orText: false })
export const textOrList = (of: Shape): Shape => ({ _tag: "List", of, orText: true })
export const kinds = (of: Kinds): Shape => ({ _tag: "Kinds", kinds: of })

/** Null stands for a key that was left out. */
export const faultOf = (shape: Shape, value: unknown, path: ReadonlyArray<Step> = []): Fault | undefined => {
  if (value === null || value === undefined) return undefined
  switch (shape._tag) {
    case "Leaf":
      return fits(shape.leaf, value) ? undefined : wrongType(path, shape.leaf as Wanted, value)
    case "List":
      if (shape.orText && typeof value === "string") return undefined
      if (!Array.isArray(value)) return wrongType(path, shape.orText ? "text or list" : "list", value)
      return firstFault(value.map((each: unknown, index) => [shape.of, each, [...path, index]]))
    case "Keys":
      return isJson(value) ? faultOfKeys(shape, value, path) : wrongType(path, "object", value)
    case "Kinds":
      if (shape.kinds.orText === true && typeof value === "string") return undefined
      if (!isJson(value)) return wrongType(path, shape.kinds.orText === true ? "text or object" : "object", value)
      return faultOfKind(shape.kinds, value, path)
  }
}

const wrongType = (path: ReadonlyArray<Step>, wanted: Wanted, found: unknown): Fault => ({
  path,
  what: { _tag: "Type", wanted, found }
})

const fits = (leaf: Leaf, value: unknown) => {
  if (leaf === "any") return true
  if (leaf === "text") return typeof value === "string"
  if (leaf === "flag") return typeof value === "boolean"
  if (leaf === "object") return isJson(value)
  return leaf === "integer" ? Number.isInteger(value) : typeof value === "number"
}

const firstFault = (all: ReadonlyArray<readonly [Shape, unknown, ReadonlyArray<Step>]>) => {
  for (const [shape, value, path] of all) {
    const fault = faultOf(shape, value, path)
    if (fault !== undefined) return fault
  }
  return undefined
}

const faultOfKeys = (
  { keys, required }: Extract<Shape, { _tag: "Keys" }>,
  value: Json,
  path: ReadonlyArray<Step>
): Fault | undefined => {
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(keys, key))
  if (unknown !== undefined) return { path: [...path, unknown], what: { _tag: "Unknown" } }
  const missing = required.find((key) => value[key] === undefined || value[key] === null)
  if (missing !== undefined) return { path: [...path, missing], what: { _tag: "Missing" } }
  return firstFault(Object.entries(value).map(([key, each]) => [keys[key] ?? any, each, [...path, key]]))
}

const faultOfKind = (kinds: Kinds, value: Json, path: ReadonlyArray<Step>): Fault | undefined => {
  const found = value[kinds.by] ?? kinds.otherwise
  if (found === undefined) return { path: [...path, kinds.by], what: { _tag: "Missing" } }
  const kind = String(found)
  const shape = Object.hasOwn(kinds.of, kind) ? kinds.of[kind] : undefined
  if (shape === undefined) {
    return { path, what: { _tag: "Kind", by: kinds.by, found: kind, known: Object.keys(kinds.of) } }
  }
  return faultOf(shape, value, kinds.isInPath === true ? [...path, kind] : path)
}
