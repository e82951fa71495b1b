/**
 * A thought in the form in which callers of the responses dialect carry it from one turn to the next: a text that they do
 * not read, with what the provider wants back. Pure.
 */
import { Result } from "effect"
import { parseJsonText, weightMaxOf } from "#contracts"
import { isRecord, textAt } from "./json.ts"

export type CarriedThought =
  | { readonly _tag: "Signed"; readonly text: string; readonly signature: string }
  | { readonly _tag: "Encrypted"; readonly data: string }

const prefix = "st1."
const limits = { depthMax: 2, weightMax: weightMaxOf(4_194_304) }

export const sealThought = (thought: CarriedThought): string => {
  const form = thought._tag === "Signed" ? { s: thought.signature, t: thought.text } : { e: thought.data }
  return prefix + Buffer.from(JSON.stringify(form)).toString("base64url")
}

/** Undefined for a text that was not made here. */
export const sealedThought = (text: string): CarriedThought | undefined => {
  if (!text.startsWith(prefix)) return undefined
  const json = Buffer.from(text.slice(prefix.length), "base64url").toString("utf8")
  const form = Result.getOrUndefined(parseJsonText(json, limits))
  if (!isRecord(form)) return undefined
  const [signature, thought, data] = [textAt(form, "s"), textAt(form, "t"), textAt(form, "e")]
  if (data !== undefined) return { _tag: "Encrypted", data }
  return signature === undefined ? undefined : { _tag: "Signed", text: thought ?? "", signature }
}
