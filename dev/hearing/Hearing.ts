/**
 * The judges of speech: Whisper for words, hama for phonemes. They run in a process of Python, one recording after the
 * other; where `./starling` could not install them, there are none.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

export const hearingHz = 16_000

export interface Recording {
  /** One channel of `hearingHz`, at most 30 seconds. */
  readonly pcm: Int16Array
  /** Two letters. */
  readonly language: string
  /** What was to be said. */
  readonly text: string
}

export interface Heard {
  readonly words: string
  /** Each with its time in milliseconds; of English alone. */
  readonly phonemes: ReadonlyArray<readonly [symbol: string, atMs: number]>
  /** The words of the text as they sound in the notation of `phonemes`; of English alone. */
  readonly expected: ReadonlyArray<readonly [word: string, phonemes: string]>
}

export interface Hearing {
  readonly hear: (recording: Recording) => Promise<Heard>
  readonly close: () => void
}

/** Where `./starling` put the Python packages. */
const packages = process.env["STARLING_HEARING"]

/** Why nobody can hear here; undefined where somebody can. */
export const deafness: string | undefined =
  packages === undefined
    ? "Whisper and hama are not here: they need Python 3.11 to 3.13, pip and its package index"
    : undefined

export const openHearing = (): Hearing => {
  if (packages === undefined) throw new Error(deafness)
  const folder = mkdtempSync(join(tmpdir(), "starling-hearing-"))
  const child = spawn("python3", ["-I", "-c", launch, packages, join(import.meta.dirname, "hearing.py")], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const waiting: Array<{ readonly heard: (line: string) => void; readonly failed: (error: Error) => void }> = []
  const end = (error: Error) => {
    for (const { failed } of waiting.splice(0)) failed(error)
  }
  child.on("error", end)
  child.on("exit", (code, signal) => end(new Error(`the judges ended with ${signal ?? `code ${code}`}`)))
  child.stdin.on("error", end)
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.heard(line))
  let count = 0
  return {
    hear: async ({ pcm, language, text }) => {
      const wav = join(folder, `${count++}.wav`)
      writeFileSync(wav, wavOf(pcm))
      const line = await new Promise<string>((heard, failed) => {
        waiting.push({ heard, failed })
        child.stdin.write(`${JSON.stringify({ wav, language, text })}\n`)
      })
      rmSync(wav)
      const answer = JSON.parse(line) as Heard & { readonly fault?: string }
      if (answer.fault !== undefined) throw new Error(answer.fault)
      return answer
    },
    close: () => {
      child.kill()
      rmSync(folder, { recursive: true })
    }
  }
}

// Nothing else of the machine's Python is looked at.
const launch = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2])"

const wavOf = (pcm: Int16Array): Buffer => {
  const header = Buffer.alloc(44)
  header.write("RIFF")
  header.writeUInt32LE(36 + pcm.byteLength, 4)
  header.write("WAVEfmt ", 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(hearingHz, 24)
  header.writeUInt32LE(2 * hearingHz, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write("data", 36)
  header.writeUInt32LE(pcm.byteLength, 40)
  return Buffer.concat([header, Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength)])
}
