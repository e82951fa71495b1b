/** Word times for engines that report none: espeak-ng speaks the same text, and its times are carried over. */
import { openEspeak } from "../espeak/binding.ts"
import { makeEspeakSpeaker } from "../espeak/speaker.ts"
import { joined } from "../worker/serve.ts"
import type { PlaceWords } from "./speaker.ts"
import { carriedOver, type PlacedWord } from "./warp.ts"

/** Speaks a text with espeak-ng, to find out when its words start. */
export const placeByEspeak = (): PlaceWords => {
  const espeak = openEspeak()
  const speaker = makeEspeakSpeaker(espeak)
  return ({ text, language, pcm, hz }) => {
    const words: Array<PlacedWord> = []
    const parts: Array<Int16Array> = []
    const plain = { ratePercent: 100, pitchPercent: 100, rangePercent: 100 }
    const voice = { engine: "espeak", name: language, ...plain, formantPercent: 100, gainDb: 0 } as const
    const job = { voice, pieces: [{ text, ...plain, volumeDb: 0 }] }
    void speaker.speak(job, {
      audio: (part) => parts.push(part) > 0,
      word: ({ position, sample }) => void words.push({ position, sample })
    })
    speaker.reset?.()
    const samples = parts.reduce((sum, part) => sum + part.length, 0)
    return carriedOver(words, { pcm: joined(parts, samples), hz: espeak.hz }, { pcm, hz })
  }
}
