/**
 * The voices that an order may be spoken with: the catalogue's, and of those it names the caller's own. Another
 * workspace's voice is looked for where one that never was is looked for, and is not there either.
 */
import { Effect, Option } from "effect"
import { Configuration } from "#runtime"
import type { FindVoice, Order } from "./plan.ts"
import { sharedSpeakable, type SpeakableVoice } from "./speakable-voice.ts"
import { ClonedVoices } from "./voices/ClonedVoices.ts"
import { cloneRules, speakableClone } from "./cloned-voice-views.ts"
import { refusalOfVoice } from "./voices/voice-refusals.ts"

// A dialogue of many strangers does not become a flood.
const readsAtOnce = 8

export const voicesFor = Effect.fnUntraced(function* (workspace: string, { turns }: Pick<Order, "turns">) {
  const ids = [...new Set(turns.map((turn) => turn.voice_id))].filter((id) => sharedSpeakable(id) === undefined)
  if (ids.length === 0) return sharedSpeakable
  const voices = yield* ClonedVoices
  const { VoiceCloning } = yield* Configuration
  const rules = cloneRules(VoiceCloning, workspace)
  const found = new Map<string, SpeakableVoice>()
  yield* Effect.forEach(
    ids,
    (id) =>
      Effect.map(Effect.mapError(voices.find(workspace, id), refusalOfVoice), (voice) => {
        if (Option.isSome(voice)) found.set(id, speakableClone(voice.value, rules))
      }),
    { concurrency: readsAtOnce, discard: true }
  )
  const findVoice: FindVoice = (id) => sharedSpeakable(id) ?? found.get(id)
  return findVoice
})
