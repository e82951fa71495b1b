/**
 * What a handler decides about a message. `Done`: finished, never again. `HandBack`: give it to somebody
 * (perhaps us) again, at once or after a while, with nothing counted.
 */
import { Data } from "effect"

export type Settlement = Data.TaggedEnum<{
  Done: {}
  HandBack: { readonly delayMs: number }
}>

export const Settlement = Data.taggedEnum<Settlement>()

export const done: Settlement = Settlement.Done()
export const handBack = (delayMs = 0): Settlement => Settlement.HandBack({ delayMs })
