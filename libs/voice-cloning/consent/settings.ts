/**
 * How a consent is judged and which resources the check may take, from the section `VoiceCloning` of the configuration.
 */
import type { ConfigurationFile } from "#contracts"
import type { RecordingLimits } from "#audio"

export interface ConsentSettings {
  readonly sample: RecordingLimits
  readonly consentRecording: RecordingLimits
  /** How many of the five words must be heard in order. */
  readonly phraseWordsMin: number
  /** The limit of the built-in check. */
  readonly speakerDistanceMax: number
  /** Empty: the built-in check. */
  readonly speakerModelFolder: string
  /** The limit of the model in that folder. */
  readonly speakerModelDistanceMax: number
  readonly pocketsphinxPath: string
  readonly pocketsphinxModelFolder: string
  readonly verificationsMax: number
}

export const consentSettings = (section: ConfigurationFile["VoiceCloning"]): ConsentSettings => {
  const levels = { silenceRatioMax: section.SilenceRatioMax, clippingRatioMax: section.ClippingRatioMax }
  return {
    sample: {
      name: "sample",
      secondsMin: section.SampleSecondsMin,
      secondsMax: section.SampleSecondsMax,
      ...levels
    },
    consentRecording: {
      name: "consent_recording",
      secondsMin: section.ConsentSecondsMin,
      secondsMax: section.ConsentSecondsMax,
      ...levels
    },
    phraseWordsMin: section.PhraseWordsMin,
    speakerDistanceMax: section.SpeakerDistanceMax,
    speakerModelFolder: section.SpeakerModelFolder,
    speakerModelDistanceMax: section.SpeakerModelDistanceMax,
    pocketsphinxPath: section.PocketsphinxPath,
    pocketsphinxModelFolder: section.PocketsphinxModelFolder,
    verificationsMax: section.VerificationsMax
  }
}
