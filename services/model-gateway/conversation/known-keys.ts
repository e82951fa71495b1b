/** The names of keys that metrics may show: those of our own lists, and of observed clients. Pure. */
import { words } from "../translate/provider-keys.ts"
import { chatKeys, openAiReadKeys } from "./write-chat.ts"
import { responsesReadKeys } from "./read-responses.ts"
import { anthropicReadKeys, messagesKeys } from "./write-messages.ts"

const known = new Set([
  ...openAiReadKeys,
  ...anthropicReadKeys,
  ...responsesReadKeys,
  ...chatKeys.extended.sent,
  ...messagesKeys.sent,
  ...messagesKeys.missed,
  ...words("cache_control client_metadata betas seed stop top_k include truncation")
])

/** For a path such as `messages[3].content`, only its first key. */
export const knownKey = (path: string): string => {
  const key = path.split(/[.[]/u, 1)[0] ?? ""
  return known.has(key) ? key : "other"
}
