/**
 * How a voice is heard, by what recognisers mistake of it: natural is heard as a person, clear is understood, basic is a
 * machine of which words are lost. docs/voices.md has the limits and each voice's figures.
 */
import { Schema } from "effect"

export const VoiceQuality = Schema.Literals(["natural", "clear", "basic"])
export type VoiceQuality = typeof VoiceQuality.Type

/** The better ones first; those that nobody judged are between clear and basic. */
export const byQuality = (left: Judged, right: Judged): number => placeOf(left) - placeOf(right)

interface Judged {
  readonly quality?: VoiceQuality
}

const order = ["natural", "clear", undefined, "basic"]
const placeOf = ({ quality }: Judged) => order.indexOf(quality)
