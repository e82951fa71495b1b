/** A player's view of encoded sound: ffmpeg's decoders. One start of ffmpeg takes longer than most sounds do. */
import { spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { pcmFromBytes } from "../../libs/speech/audio/samples.ts"

export interface EncodedSound {
  readonly bytes: Uint8Array
  /** What ffmpeg is told of the input, and of the samples that it gives. */
  readonly input?: ReadonlyArray<string>
  readonly output?: ReadonlyArray<string>
}

// After those of ffmpeg's own input, output and complaints.
const firstPipe = 3

/** The samples of each sound, which one ffmpeg reads side by side. Fails on its first complaint. */
export const decodeAll = (sounds: ReadonlyArray<EncodedSound>) =>
  new Promise<ReadonlyArray<Int16Array>>((resolve, reject) => {
    const inputPipe = (at: number) => firstPipe + at
    const outputPipe = (at: number) => firstPipe + sounds.length + at
    const inputs = sounds.flatMap(({ input = [] }, at) => [...input, "-i", `pipe:${inputPipe(at)}`])
    const outputs = sounds.flatMap(({ output = [] }, at) =>
      ["-map", `${at}:a`].concat(output, "-f", "s16le", `pipe:${outputPipe(at)}`)
    )
    const child = spawn("ffmpeg", ["-nostdin", "-v", "error", ...inputs, ...outputs], {
      stdio: ["ignore", "ignore", "pipe", ...sounds.flatMap(() => ["pipe", "pipe"] as const)]
    })
    for (const [at, { bytes }] of sounds.entries()) {
      const input = child.stdio[inputPipe(at)] as Writable
      // ffmpeg says itself why it reads no further.
      input.on("error", () => undefined)
      input.end(bytes)
    }
    const parts = sounds.map((_, at) => collect(child.stdio[outputPipe(at)] as Readable))
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
