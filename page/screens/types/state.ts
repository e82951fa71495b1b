/** The state of an event type in a word. Pure. */
import type { Answer } from "../../api/client.ts"
import type { Tone } from "../../design/tone.ts"

export type TypeRow = Answer<"GET", "/events/catalogue">["items"][number]

export const stateOf = ({
  isRetired,
  isProgress
}: Pick<TypeRow, "isRetired" | "isProgress">): { readonly tone: Tone; readonly word: string } => {
  if (isRetired) return { tone: "quiet", word: "retired" }
  return isProgress ? { tone: "good", word: "opt-in" } : { tone: "good", word: "in use" }
}

export const sourceWords: Readonly<Record<TypeRow["source"], string>> = {
  fleet: "Starling",
  configuration: "configuration file",
  "run-time": "console"
}
