/** The voices that who looks may speak with, and a sentence to hear each by. */
import { speech, type SpeechAnswer } from "../../api/apis.ts"
import { useResource } from "../../api/resource.ts"

type VoiceList = Extract<SpeechAnswer<"GET", "/v1/voices">, { readonly voices: unknown }>
export type Voice = VoiceList["voices"][number]

/** The better ones first; those that nobody judged are between clear and basic. */
const placeOf = ({ quality }: Voice) => ["natural", "clear", undefined, "basic"].indexOf(quality)

export const useVoices = () =>
  useResource("voices", async (signal) => {
    const answer = await speech.get("/v1/voices", { signal })
    const voices = "voices" in answer ? answer.voices : answer
    return voices.toSorted((left, right) => placeOf(left) - placeOf(right))
  })

export const useSpeechModels = () =>
  useResource("speech models", (signal) => speech.get("/v1/audio/models", { signal }))

const sentences: Readonly<Record<string, string>> = {
  en: "The starling learns its songs from others.",
  de: "Der Star lernt seine Lieder von anderen.",
  es: "El estornino aprende sus cantos de otros.",
  fr: "L’étourneau apprend ses chants des autres.",
  it: "Lo storno impara i suoi canti dagli altri.",
  pt: "O estorninho aprende os seus cantos com outros."
}

/** A sentence in the language of a locale; English where there is none. */
export const sentenceFor = (locale: string): string => sentences[locale.slice(0, 2)] ?? sentences["en"] ?? ""

/** Whether a voice is meant by words that somebody types. */
export const isMeant = ({ id, display_name, locale, gender, quality, tags = [] }: Voice, words: string): boolean => {
  const all = [id, display_name, locale, gender, quality ?? "", ...tags].join(" ").toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => all.includes(word))
}
