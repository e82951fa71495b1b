/** The models as the wire shows them. Pure. */
import { type SpeechModel, speechModels } from "#contracts"

const modelBody = (model: SpeechModel) => ({
  id: model.id,
  name: model.name,
  default: model.isDefault,
  recommended: model.isRecommended,
  deprecated: model.isDeprecated,
  description: model.description,
  languages: model.languages,
  endpoints: model.routes,
  curated_voices: model.id === "tts-3.2",
  english_voices_only: model.isEnglishOnly
})

export const modelList = {
  models: speechModels.filter(({ isDialogue }) => !isDialogue).map(modelBody),
  dialogue_models: speechModels.filter(({ isDialogue }) => isDialogue).map(modelBody)
}
