/**
 * An engine whose capacity is known: a program that makes so many seconds of sound in a second, as its argument says,
 * and sleeps in between. Its sound is a tone.
 */
import { createInterface } from "node:readline"
import type { ToProgram } from "../../libs/speech/engine/process/protocol.ts"

const sampleRateHz = 24_000
const pace = Number(process.argv[2])
const msPerCharacter = 60
const pieceMs = 200

const send = (message: object, audio?: Int16Array) => {
  process.stdout.write(`${JSON.stringify(audio === undefined ? message : { ...message, bytes: audio.byteLength })}\n`)
  if (audio !== undefined) process.stdout.write(new Uint8Array(audio.buffer))
}

const piece = Int16Array.from({ length: (pieceMs * sampleRateHz) / 1_000 }, (_, at) => 6_000 * Math.sin(at / 20))
const cancelled = new Set<number>()
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const speak = async ({ id, text }: Extract<ToProgram, { readonly type: "speak" }>) => {
  for (const { index } of text.matchAll(/\S+/gu)) {
    send({ type: "word", id, position: index, sample: (index * msPerCharacter * sampleRateHz) / 1_000 })
  }
  const startedMs = performance.now()
  for (let made = 0; made < text.length * msPerCharacter && !cancelled.has(id); made += pieceMs) {
    await pause(startedMs + (made + pieceMs) / pace - performance.now())
    send({ type: "audio", id }, piece)
  }
  send({ type: "end", id })
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line) as ToProgram
  if (message.type === "cancel") cancelled.add(message.id)
  else if (message.type === "speak") void speak(message)
  else send({ type: "hello", protocol: 1, sampleRateHz, voices: ["tone"], wordTimes: true, prosody: ["rate"] })
})
