/** Which engines tell the phonemes that they speak. */
import type { EngineVoice } from "#speech/contract"

/** Of models, those that read phonemes do; what a model reads is known only to who has its files. */
export const tellsPhonemes = (engine: EngineVoice["engine"]): boolean =>
  engine === "espeak" || engine === "flite" || engine.startsWith("model-")
