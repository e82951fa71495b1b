/**
 * An engine that obeys: it hums or fails as the file says that it is started with. Starling's engine protocol
 * (docs/speech-engines.md).
 */
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"

const sampleRateHz = 16_000
const seconds = 0.4
const pcm = Buffer.alloc(sampleRateHz * seconds * 2)
for (let at = 0; at < pcm.length / 2; at++) pcm.writeInt16LE(Math.round(8_000 * Math.sin(at / 12)), at * 2)

const say = (message: unknown) => process.stdout.write(`${JSON.stringify(message)}\n`)
const manner = () => readFileSync(process.argv[2] ?? "", "utf8").trim()

createInterface({ input: process.stdin }).on("line", (line) => {
  const { type, id } = JSON.parse(line) as { readonly type: string; readonly id?: number }
  if (type === "hello") return void say({ type, protocol: 1, sampleRateHz, voices: ["hum"], wordTimes: false })
  if (type !== "speak") return void say({ type: "end", id })
  if (manner() === "fails") return void say({ type: "failed", id, message: "its licence has ended" })
  say({ type: "audio", id, bytes: pcm.length })
  process.stdout.write(pcm)
  say({ type: "end", id })
})
