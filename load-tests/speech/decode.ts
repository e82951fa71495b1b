/** Audio of any format as a player hears it: 24,000 Hz, mono, 16 bit. By ffmpeg, which knows nothing of how it was made. */
import { spawn } from "node:child_process"

export const decodedHz = 24_000

/** Those without a header say nothing of themselves. */
const inputOf = (format: string): ReadonlyArray<string> => {
  const [codec, rateHz = ""] = format.split("_")
  if (codec === "pcm") return ["-f", "s16le", "-ar", rateHz, "-ac", "1"]
  if (codec === "ulaw") return ["-f", "mulaw", "-ar", rateHz, "-ac", "1"]
  if (codec === "alaw") return ["-f", "alaw", "-ar", rateHz, "-ac", "1"]
  return []
}

export const decoded = (format: string, audio: Buffer): Promise<Int16Array> =>
  new Promise((resolve, reject) => {
    const output = ["-f", "s16le", "-ar", String(decodedHz), "-ac", "1", "pipe:1"]
    const child = spawn("ffmpeg", ["-v", "error", ...inputOf(format), "-i", "pipe:0", ...output], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    const parts: Array<Buffer> = []
    let errors = ""
    child.stdout.on("data", (part: Buffer) => parts.push(part))
    child.stderr.on("data", (text: Buffer) => (errors += text.toString()))
    child.on("error", reject)
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(`ffmpeg cannot decode ${format}: ${errors}`))
      const bytes = Buffer.concat(parts)
      resolve(new Int16Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 1))
    })
    child.stdin.on("error", () => undefined)
    child.stdin.end(audio)
  })
