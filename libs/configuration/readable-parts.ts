/**
 * The readable part of a configuration that is faulty elsewhere: the input, with a mark in place of each value that its
 * key does not accept. Rules report nothing about anything that depends on a marked value. Pure.
 */
import type { Fault } from "#base"

export type Json = Readonly<Record<string, unknown>>

/** Replaces a value that is missing or that its key does not accept. */
export const unreadable: unique symbol = Symbol("unreadable")

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

// A section, one of its lists, or an entry of a list. A fault here can be a broken rule between readable keys.
const part = /^\/\w+(?:\/(?:Networks|Providers|Models|Kinds)(?:\/\d+(?:\/Upstreams(?:\/\d+)?)?)?|\/\d+)?$/u

/** `pointers`: where the schema found faults. */
export const readableParts = (input: unknown, pointers: ReadonlyArray<string>): Json => {
  const copy = structuredClone(isJson(input) ? input : {})
  for (const pointer of pointers) mark(copy, pointer)
  return copy
}

const mark = (root: Json, pointer: string) => {
  const steps = pointer.split("/").slice(1)
  const last = steps.pop()
  let at: unknown = root
  for (const step of steps) at = isContainer(at) ? at[step] : undefined
  if (last === undefined || !isContainer(at)) return
  if (isContainer(at[last]) && part.test(pointer)) return
  at[last] = unreadable
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** The entries of a list with their indexes; empty if the value is not a list. */
export const entriesOf = (root: Json, section: string, key?: string): ReadonlyArray<readonly [number, Json]> => {
  const value = root[section]
  const list = key === undefined ? value : isJson(value) ? value[key] : undefined
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown, index) => (isJson(entry) ? [[index, entry] as const] : []))
}

class Unreadable extends Error {}

/** The verdict of a rule on a part; undefined when the rule reads an unreadable key. */
export const judged = <A extends object, B>(entry: A, rule: (entry: A) => B): B | undefined => {
  const watched = new Proxy(entry, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key)
      if (value === unreadable) throw new Unreadable()
      return value
    }
  })
  try {
    return rule(watched)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

/** Each fault once, in file order. A fault of a missing key comes after those of its neighbours. */
export const inFileOrder = (input: unknown, faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> => {
  const once = new Map(faults.map((fault) => [JSON.stringify([fault.path, fault.message]), fault]))
  const placed = [...once.values()].map((fault) => ({ fault, place: placeOf(input, fault.path) }))
  return placed.toSorted((left, right) => compared(left.place, right.place)).map(({ fault }) => fault)
}

const placeOf = (input: unknown, path: string): ReadonlyArray<number> => {
  let at: unknown = input
  return path.split(/[.[\]]+/u).flatMap((step) => {
    if (step === "") return []
    const index = isContainer(at) ? Object.keys(at).indexOf(step) : -1
    at = isContainer(at) ? at[step] : undefined
    return [index < 0 ? Number.MAX_SAFE_INTEGER : index]
  })
}

const compared = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number => {
  const at = left.findIndex((place, index) => place !== right[index])
  if (at < 0) return left.length - right.length
  return (left[at] ?? 0) - (right[at] ?? -1)
}
