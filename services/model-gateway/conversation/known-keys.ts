/** The names of keys that metrics may show: those of our own lists, and of the clients that were heard. Pure. */
import { words } from "../translate/provider-keys.ts"
import { chatKeys, openAiReadKeys } from "./write-chat.ts"
import { anthropicReadKeys, messagesKeys } from "./write-messages.ts"

const known = new Set([
  ...openAiReadKeys,
  ...anthropicReadKeys,
  ...chatKeys.extended.sent,
  ...messagesKeys.sent,
  ...messagesKeys.missed,
  ...words("cache_control client_metadata betas seed stop top_k include truncation")
])

export const knownKey = (key: string): string => {
  if (key.startsWith("tools.")) return "tools"
  return known.has(key) ? key : "other"
}
