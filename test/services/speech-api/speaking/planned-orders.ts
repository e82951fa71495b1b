/** Orders of speech, planned for a route or refused. */
import { Result } from "effect"
import {
  type Delivery,
  type Order,
  planSpeech,
  type SpeechPlan,
  type SpeechRoute
} from "../../../../services/speech-api/speaking/plan.ts"
import { catalogueOf } from "#speech"
import { type FindVoice, sharedSpeakable } from "../../../../services/speech-api/voices/speakable.ts"

const ofCatalogue = sharedSpeakable(catalogueOf([]))
/** `mute` is a voice of a program, which tells no phonemes; `slow` takes longer to speak than to be heard. */
const findVoice: FindVoice = (id) => {
  const voice = ofCatalogue(id === "mute" || id === "slow" ? "henry" : id)
  if (voice !== undefined && id === "slow") return { ...voice, id, isRealTime: false }
  if (voice === undefined || id !== "mute") return voice
  const engineVoice: typeof voice.engineVoice = (locale) => {
    const own = voice.engineVoice(locale)
    return own && { ...own, engine: "process-mute", language: "en-us", locale }
  }
  return { ...voice, id, engineVoice }
}

export const speech = "/v1/audio/speech"
export const stream = "/v1/audio/stream"
export const timestamps = "/v1/audio/stream/with-timestamps"
export const dialogue = "/v1/audio/dialogue"

const hello: Order = { turns: [{ input: "Hello.", voice_id: "henry" }] }

export const plan = (order: Partial<Order>, route: SpeechRoute = speech, accept?: string) =>
  planSpeech({ ...hello, ...order }, { route, accept, charactersMax: 20_000, findVoice, textNormalization: true })
export const planDelivered = (order: Order, route: SpeechRoute, delivery: Delivery) =>
  planSpeech(order, {
    route,
    accept: "audio/mpeg",
    charactersMax: 20_000,
    findVoice,
    textNormalization: true,
    delivery
  })
export const planAtMost = (charactersMax: number, order: Order, route: SpeechRoute = speech) =>
  planSpeech(order, { route, accept: undefined, charactersMax, findVoice, textNormalization: true })
export const planned = (...given: Parameters<typeof plan>): SpeechPlan => Result.getOrThrow(plan(...given))
export const refused = (...given: Parameters<typeof plan>) => {
  const result = plan(...given)
  if (Result.isSuccess(result)) throw new Error("it was planned")
  return result.failure
}
export const spokenBy = (voice_id: string): Order => ({ turns: [{ input: "Hello.", voice_id }] })
