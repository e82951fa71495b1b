/** A program that follows its first argument, and then the words that it is to speak: it is late, lies, hangs, or ends. */
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createInterface } from "node:readline"

const [how = "well", file = ""] = process.argv.slice(2)
const hello = { type: "hello", protocol: 1, sampleRateHz: 24_000, voices: ["one"], wordTimes: true, prosody: [] }
const greetings: Readonly<Record<string, string>> = {
  "old protocol": JSON.stringify({ ...hello, protocol: 2 }),
  "no voices": JSON.stringify({ ...hello, voices: [] }),
  "other voices": JSON.stringify({ ...hello, voices: ["two"] }),
  "no JSON": "Loading model, please wait",
  "endless line": "x".repeat(200_000)
}

const write = (message: object) => void process.stdout.write(`${JSON.stringify(message)}\n`)
const sound = (id: number, samples = 2_400) => {
  write({ type: "audio", id, bytes: samples * 2 })
  process.stdout.write(Buffer.alloc(samples * 2, 8))
}
const timers = new Map<number, NodeJS.Timeout>()

interface Asked {
  readonly type: string
  readonly id: number
  readonly text: string
}

const speak = ({ id, text }: Asked) => {
  const word = text.trim()
  if (word === "crash") {
    process.stderr.write("out of luck\n")
    process.exit(3)
  }
  if (word === "hang") return
  if (word === "garbage") return void process.stdout.write("not a line of JSON\n")
  if (word === "stranger") return sound(id + 7)
  if (word === "refuse") return write({ type: "failed", id, message: "no such word" })
  if (word === "slow") {
    // Until it is cancelled: a tenth of a second of sound each time.
    timers.set(
      id,
      setInterval(() => sound(id), 20)
    )
    return
  }
  if (word === "endless") for (let second = 0; second < 10; second++) sound(id, 24_000)
  write({ type: "word", id, position: 0, sample: 0 })
  sound(id)
  write({ type: "end", id })
}

if (how === "exit") process.exit(4)
if (how === "child") writeFileSync(file, String(spawn("sleep", ["600"], { stdio: "ignore" }).pid))
if (how === "chatty") for (let line = 0; line < 200; line++) process.stderr.write(`line ${line} ${"x".repeat(1_000)}\n`)
if (how === "environment")
  process.stderr.write(`sees ${Object.keys(process.env).toSorted().join(" ")} in ${process.cwd()}\n`)

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line) as Asked
    if (message.type === "hello") {
      if (how !== "silent") process.stdout.write(`${greetings[how] ?? JSON.stringify(hello)}\n`)
    } else if (message.type === "cancel") {
      clearInterval(timers.get(message.id))
      if (how !== "deaf" && how !== "child") write({ type: "end", id: message.id })
      // As one does whose text had ended when the cancel came.
      if (how === "repeats") write({ type: "end", id: message.id })
    } else speak(message)
  })
  .on("close", () => how !== "stays" && process.exit(0))
