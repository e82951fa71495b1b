/** What a decoder's run says of the file it was given: a recording, or why there is none. Pure. */
import type { ContainedRun } from "./contained-process.ts"
import { pcmFromBytes } from "../pcm.ts"
import { RecordingUnusable } from "./errors.ts"
import { measureLevels } from "./measure-levels.ts"
import { type Recording, recordingHz } from "./recording.ts"

/** Less than this share of what the file announces means that its end is missing. */
const wholeShareMin = 0.9
const missingSecondsMin = 0.5

export const readDecoded = (run: ContainedRun, name: string): Recording | RecordingUnusable => {
  const unusable = (reason: RecordingUnusable["reason"], detail: string) =>
    new RecordingUnusable({ name, reason, detail })
  const isOutOfMemory = run.exitCode !== 0 && run.said.includes("Cannot allocate memory")
  if (run.ending === "wall_time" || run.ending === "cpu_time" || isOutOfMemory) {
    return unusable("too_costly", "decoding it takes more of the machine than a recording may")
  }
  const samples = pcmFromBytes(run.output)
  const seconds = samples.length / recordingHz
  if (run.ending !== "output") {
    if (samples.length === 0) return unusable("not_audio", "it holds no audio that can be decoded here")
    if (run.exitCode !== 0) return unusable("damaged", "it stops being audio in the middle")
    const announced = announcedSeconds(run.said)
    if (announced !== null && seconds < announced * wholeShareMin && announced - seconds > missingSecondsMin) {
      return unusable("damaged", `it announces ${announced.toFixed(1)} seconds and has ${seconds.toFixed(1)}`)
    }
  }
  return { samples, seconds, levels: measureLevels(samples, recordingHz) }
}

/** Null when the container says nothing, or ffmpeg guessed. */
const announcedSeconds = (said: string): number | null => {
  if (said.includes("Estimating duration from bitrate")) return null
  const [, hours, minutes, rest] = /^ {2}Duration: (\d{1,6}):(\d\d):(\d\d\.\d\d),/mu.exec(said) ?? []
  return hours === undefined ? null : Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest)
}
