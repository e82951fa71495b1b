/** espeak-ng as a program of an operator's, with exact word times and all prosody: what the protocol's tests run on. */
import { createInterface } from "node:readline"
import { openEspeak } from "../../../../../libs/speech/engine/espeak/binding.ts"
import { makeEspeakSpeaker } from "../../../../../libs/speech/engine/espeak/speaker.ts"
import type { ToProgram } from "../../../../../libs/speech/engine/process/protocol.ts"

const espeak = openEspeak()
const speaker = makeEspeakSpeaker(espeak)
const takesPhonemes = !process.argv.includes("--without-phonemes")
const tellsWords = !process.argv.includes("--without-word-times")
const cancelled = new Set<number>()

const send = (message: object, audio: Int16Array = new Int16Array(0)) => {
  process.stdout.write(`${JSON.stringify(audio.length > 0 ? { ...message, bytes: audio.byteLength } : message)}\n`)
  if (audio.length > 0) process.stdout.write(Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength))
}

const codePoints = (text: string, position: number) => Array.from(text.slice(0, position)).length

const unitOf = (text: string, codePoint: number) => Array.from(text).slice(0, codePoint).join("").length

const speak = ({
  id,
  voice,
  text,
  phonemes = [],
  rate,
  pitch,
  range
}: Extract<ToProgram, { readonly type: "speak" }>) => {
  const plain = { ratePercent: 100, pitchPercent: 100, rangePercent: 100 }
  const style = { ratePercent: 100 * rate, pitchPercent: 100 * pitch, rangePercent: 100 * range, volumeDb: 0 }
  const pronunciations = phonemes.map(({ position, length, ipa }) => ({
    from: unitOf(text, position),
    to: unitOf(text, position + length),
    ipa
  }))
  const job = {
    voice: { engine: "espeak", name: voice, ...plain, formantPercent: 100, gainDb: 0 },
    pieces: [{ text, pronunciations, ...style }]
  } as const
  const outcome = speaker.speak(job, {
    audio: (pcm) => {
      if (pcm.length > 0) send({ type: "audio", id }, pcm)
      return !cancelled.has(id)
    },
    word: ({ position, sample }) => {
      if (tellsWords) send({ type: "word", id, position: codePoints(text, position), sample })
    }
  })
  speaker.reset?.()
  if (outcome !== null && !(outcome instanceof Promise) && outcome.kind === "failed") {
    send({ type: "failed", id, message: outcome.detail })
  } else send({ type: "end", id })
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line) as ToProgram
  if (message.type === "hello") {
    send({
      type: "hello",
      protocol: 1,
      sampleRateHz: espeak.hz,
      voices: ["en-us", "de"],
      wordTimes: tellsWords,
      prosody: ["rate", "pitch", "range"],
      phonemes: takesPhonemes && message.offers.includes("phonemes")
    })
  } else if (message.type === "cancel") cancelled.add(message.id)
  else speak(message)
})
