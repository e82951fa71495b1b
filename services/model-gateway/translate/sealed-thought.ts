/**
 * A thought in the form in which callers of the responses dialect carry it from one turn to the next: a text that is
 * opaque to them and contains what the provider requires back. Pure.
 */
import { Result } from "effect"
import { parseJsonText, weightMaxOf } from "#base"
import { isRecord, textAt } from "./json.ts"

/**
 * The seal of a thought whose provider does not seal: clients drop a thought without a seal, and a reasoner requires it
 * back.
 */
export const unsealed = Buffer.from("unsealed").toString("base64")

export type CarriedThought =
  | { readonly _tag: "Plain"; readonly text: string }
  | { readonly _tag: "Signed"; readonly text: string; readonly signature: string }
  | { readonly _tag: "Encrypted"; readonly data: string }

const prefix = "st1."
const limits = { depthMax: 2, weightMax: weightMaxOf(4_194_304) }

export const sealThought = (thought: CarriedThought): string => {
  const form = formOf(thought)
  return prefix + Buffer.from(JSON.stringify(form)).toString("base64url")
}

const formOf = (thought: CarriedThought) => {
  switch (thought._tag) {
    case "Plain":
      return { t: thought.text }
    case "Signed":
      return { s: thought.signature, t: thought.text }
    case "Encrypted":
      return { e: thought.data }
  }
}

/** Undefined for a text that was not made here. */
export const sealedThought = (text: string): CarriedThought | undefined => {
  if (!text.startsWith(prefix)) return undefined
  const json = Buffer.from(text.slice(prefix.length), "base64url").toString("utf8")
  const form = Result.getOrUndefined(parseJsonText(json, limits))
  if (!isRecord(form)) return undefined
  const [signature, thought, data] = [textAt(form, "s"), textAt(form, "t"), textAt(form, "e")]
  if (data !== undefined) return { _tag: "Encrypted", data }
  if (signature !== undefined) return { _tag: "Signed", text: thought ?? "", signature }
  return thought === undefined ? undefined : { _tag: "Plain", text: thought }
}
