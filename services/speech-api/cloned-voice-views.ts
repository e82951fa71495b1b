/** A cloned voice as lists show it and as plans speak it. Pure. */
import type { ConfigurationFile } from "#contracts"
import { clonedEngineVoice, zeroShotVoice } from "#speech"
import type { SpeakableVoice } from "./speakable-voice.ts"
import type { ListedVoice } from "./voice-list.ts"
import { clonedModels, expressiveModel } from "./voices/cloned-models.ts"
import type { ClonedVoice } from "./voices/records.ts"

export const listedClone = (voice: ClonedVoice, { isExpressive }: Pick<CloneRules, "isExpressive">): ListedVoice => ({
  id: voice.id,
  displayName: voice.name,
  gender: voice.gender,
  locale: voice.locale,
  models: clonedModels(voice.locale, isExpressive),
  cloned: { hasAvatar: voice.avatar !== null }
})

/** What of a deployment decides how clones speak in a workspace. */
export interface CloneRules {
  /** The expressive model speaks with them. */
  readonly isExpressive: boolean
  /** A zero-shot model speaks with those that have a reference. */
  readonly isZeroShot: boolean
}

export const cloneRules = (
  { ExpressiveModelWorkspaces, ZeroShotModelFolder }: ConfigurationFile["VoiceCloning"],
  workspace: string
): CloneRules => ({
  isExpressive: ExpressiveModelWorkspaces.includes(workspace),
  isZeroShot: ZeroShotModelFolder !== ""
})

export const speakableClone = (
  { id, locale, gender, traits, reference }: ClonedVoice,
  { isExpressive, isZeroShot }: CloneRules
): SpeakableVoice => ({
  id,
  locale,
  models: clonedModels(locale, isExpressive),
  withheld: isExpressive ? [] : [expressiveModel],
  engineVoice: (spoken) =>
    isZeroShot && reference !== null ? zeroShotVoice(traits, reference) : clonedEngineVoice(traits, spoken, gender)
})
