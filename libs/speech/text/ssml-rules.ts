/** What an SSML document may not do, element by element, and the limits of it. Answers with a sentence. */
import { breakMillisecondsMax } from "./break-time.ts"
import { findElement, isAllowedAttribute } from "./elements.ts"

export const ssmlLimits = {
  depthMax: 20,
  /** One for ten characters of the longest input. */
  elementsMax: 2_000,
  attributesMax: 12,
  breakMillisecondsMax,
  /** All breaks of an input together. */
  silenceMillisecondsMax: 600_000,
  /** Of the content of sub and say-as, and of an alias: each is one word. */
  wordCharactersMax: 400,
  faultsMax: 10
}

export interface Opened {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** Name of the element around it, empty for the outermost. */
  readonly parent: string
  /** Both count from 1, this element included. */
  readonly depth: number
  readonly elements: number
}

/** Undefined where nothing is wrong. */
export const problemOf = ({ attributes, depth, elements, name, parent }: Opened): string | undefined => {
  // Told once each: the inputs that go so far go much farther.
  if (elements === ssmlLimits.elementsMax + 1) return `there are more than ${ssmlLimits.elementsMax} elements`
  if (depth === ssmlLimits.depthMax + 1) return `elements are nested deeper than ${ssmlLimits.depthMax}`
  const rule = findElement(name)
  if (rule === undefined) return unknownElement(name)
  if ((name === "speak") !== (parent === "")) return "<speak> is the outermost element, and only that"
  const outer = findElement(parent)
  if (outer !== undefined && outer.holds !== "anything") return `<${parent}> holds no elements`
  const names = Object.keys(attributes)
  if (names.length > ssmlLimits.attributesMax) return `<${name}> has too many attributes`
  const odd = names.find((attribute) => !isAllowedAttribute(rule, attribute))
  if (odd !== undefined) return `<${name}> has no attribute ${odd.slice(0, 40)}`
  const isLacking = rule.required !== undefined && attributes[rule.required] === undefined
  return isLacking ? `<${name}> lacks its attribute ${rule.required}` : undefined
}

const unknownElement = (name: string) => {
  const lower = name.toLowerCase()
  const hint = findElement(lower) === undefined ? "" : `; write <${lower}>`
  return `<${name.slice(0, 40)}> is not supported${hint}`
}
