/** A player's view of encoded sound: ffmpeg's decoders. One start of ffmpeg takes longer than most sounds do. */
import { spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { pcmFromBytes } from "../../libs/audio/samples.ts"

/** Of an input, before its name. */
type Parameters = ReadonlyArray<string>

// After those of ffmpeg's own input, output and complaints.
const firstPipe = 3

/** The samples of each stream of bytes, which one ffmpeg reads side by side. Fails on its first complaint. */
export const decodeAll = (streams: ReadonlyArray<Uint8Array>, parameters: Parameters = []) =>
  new Promise<ReadonlyArray<Int16Array>>((resolve, reject) => {
    const inputPipe = (at: number) => firstPipe + at
    const outputPipe = (at: number) => firstPipe + streams.length + at
    const inputs = streams.flatMap((_, at) => [...parameters, "-i", `pipe:${inputPipe(at)}`])
    const outputs = streams.flatMap((_, at) => ["-map", `${at}:a`, "-f", "s16le", `pipe:${outputPipe(at)}`])
    const child = spawn("ffmpeg", ["-nostdin", "-v", "error", ...inputs, ...outputs], {
      stdio: ["ignore", "ignore", "pipe", ...streams.flatMap(() => ["pipe", "pipe"] as const)]
    })
    for (const [at, bytes] of streams.entries()) {
      const input = child.stdio[inputPipe(at)] as Writable
      // ffmpeg says itself why it reads no further.
      input.on("error", () => undefined)
      input.end(bytes)
    }
    const parts = streams.map((_, at) => collect(child.stdio[outputPipe(at)] as Readable))
    const complaints = collect(child.stderr as Readable)
    child.once("error", reject)
    child.once("close", () => {
      if (complaints.length > 0) return reject(new Error(`does not decode: ${Buffer.concat(complaints).toString()}`))
      return resolve(parts.map((part) => pcmFromBytes(new Uint8Array(Buffer.concat(part)))))
    })
  })

const collect = (readable: Readable) => {
  const parts: Array<Buffer> = []
  readable.on("data", (part: Buffer) => parts.push(part))
  return parts
}
