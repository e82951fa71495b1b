/** A fleet with one cloned voice in it, and a second workspace, to which that voice is a stranger's. */
import { speechFleet, type SpeechFleet } from "./speech-fleet.ts"
import { cloned } from "./voices.ts"

export const voicesMax = 2
export const name = "Zaphod Beeblebrox"
export const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)
export const input = "Hello, it is me."

export const fleetWithVoice = async () => {
  const fleet = await speechFleet({
    VOICE_CLONING_VOICES_PER_WORKSPACE: String(voicesMax),
    VOICE_CLONING_EXPRESSIVE_MODEL_WORKSPACES: '["expressive"]'
  })
  const other = await fleet.tokenOf("--workspace", "other", "--role", "member")
  const voice = await cloned(fleet, "alan", { name, locale: "en-US", avatar: picture })
  return { fleet, other, voice }
}

export interface Listed {
  readonly id: string
  readonly type: string
  readonly display_name: string
}

export const listedIn = async (fleet: SpeechFleet, query: string, token = fleet.token) => {
  const { body } = await fleet.call(`/v1/voices${query}`, { token })
  return (body as { readonly voices: ReadonlyArray<Listed> }).voices
}
export const idsOf = (voices: ReadonlyArray<Listed>) => voices.map(({ id }) => id)
