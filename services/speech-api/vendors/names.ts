/** What vendors' names for voices, models and normalization are in our own terms. Pure. */
import type { Order } from "../speaking/plan.ts"

/** Voices of ours by vendors' ids. */
export type VoiceNames = Readonly<Record<string, string>>

export const ownVoice = (names: VoiceNames, id: string): string => (Object.hasOwn(names, id) ? (names[id] ?? id) : id)

/** A vendor's own models stand for our default one; any other name is one of ours. */
export const ownModel = (name: string | undefined, ofVendor: RegExp): { readonly model?: string } =>
  name === undefined || ofVendor.test(name) ? {} : { model: name }

/** `auto` is the fleet's default; Cartesia also names a locale, whose rules are those of the language spoken. */
export const ownNormalization = (asked: string | undefined): Pick<Order, "options"> =>
  asked === undefined || asked === "auto" ? {} : { options: { text_normalization: asked !== "off" } }
