/** What a voice of the shared catalogue is. */
import type { EngineVoice, ModelId } from "#contracts"

export interface VoiceModel {
  readonly name: ModelId
  /** Locales that the voice speaks with this model, its own first. */
  readonly languages: ReadonlyArray<string>
}

export interface SharedVoice {
  readonly id: string
  readonly displayName: string
  readonly gender: "male" | "female"
  readonly locale: string
  readonly tags: ReadonlyArray<string>
  readonly models: ReadonlyArray<VoiceModel>
  readonly engine: EngineVoice
}
