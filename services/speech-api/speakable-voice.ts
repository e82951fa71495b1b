/** What a plan must know of a voice, whether everybody has it or one workspace has cloned it. Pure. */
import type { EngineVoice, ModelId } from "#contracts"
import { engineVoice, type SharedVoice, voiceById } from "#speech"

export interface SpeakableVoice extends Pick<SharedVoice, "id" | "locale" | "models"> {
  /** Models that would speak with it in another workspace. */
  readonly withheld: ReadonlyArray<ModelId>
  /** Nothing for a locale that the voice does not speak. */
  readonly engineVoice: (locale: string) => EngineVoice | undefined
}

/** A voice of the catalogue. */
export const sharedSpeakable = (id: string): SpeakableVoice | undefined => {
  const voice = voiceById(id)
  if (voice === undefined) return undefined
  const { locale, models } = voice
  return { id, locale, models, withheld: [], engineVoice: (spoken) => engineVoice(voice, spoken) }
}
