/** The programs that reach a sound card, and which of them this machine has. */
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { playedRateHz } from "./say-format.ts"

export interface Player {
  readonly program: string
  readonly parameters: ReadonlyArray<string>
  /** Reads PCM while it comes; otherwise it wants a whole file, named last. */
  readonly isFed: boolean
  /** From its first bytes to the first sound; measured, for words that are shown when they are heard. */
  readonly startMs: number
}

const rate = String(playedRateHz)

// What ffplay does by itself is look into the first seconds before it plays them.
const ffplay = ["-nodisp", "-autoexit", "-hide_banner", "-loglevel", "error", "-fflags", "nobuffer"]
const atOnce = ["-analyzeduration", "0", "-probesize", "32", "-f", "s16le", "-sample_rate", rate, "-i", "-"]

/** In the order in which they are taken. */
export const players: ReadonlyArray<Player> = [
  { program: "ffplay", parameters: [...ffplay, ...atOnce], isFed: true, startMs: 250 },
  {
    program: "aplay",
    parameters: ["-q", "-t", "raw", "-f", "S16_LE", "-r", rate, "-c", "1", "-"],
    isFed: true,
    startMs: 100
  },
  { program: "afplay", parameters: [], isFed: false, startMs: 200 },
  {
    program: "play",
    parameters: ["-q", "-t", "raw", "-r", rate, "-e", "signed", "-b", "16", "-c", "1", "-"],
    isFed: true,
    startMs: 100
  }
]

export const findPlayer = (path: string | undefined): Player | undefined => {
  const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "")
  return players.find(({ program }) => folders.some((folder) => isProgram(join(folder, program))))
}

const isProgram = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** What a player that cannot play says of it; ffplay ends with 0 all the same. */
const deaf = /audio open failed|could not initialize sdl|failed to open file/iu

/** Nothing when it played to the end. */
export const faultOfPlayer = (code: number | null, signal: string | null, said: string): string | undefined => {
  const lines = said.split("\n").map((line) => line.trim())
  const told = lines.find((line) => deaf.test(line)) ?? lines.findLast((line) => line !== "")
  if (code === 0 && !deaf.test(said)) return undefined
  return told ?? (signal === null ? `it ended with ${code}` : `it was ended by ${signal}`)
}
