/** Whether a recording can be used, by its length and levels. Pure. */
import { RecordingUnusable } from "./errors.ts"
import type { Recording, RecordingLimits } from "./recording.ts"

/** The first fault, or null. */
export const judgeRecording = (
  { seconds, levels }: Pick<Recording, "seconds" | "levels">,
  limits: RecordingLimits
): RecordingUnusable | null => {
  const { name, secondsMin, secondsMax, silenceRatioMax, clippingRatioMax } = limits
  const unusable = (reason: RecordingUnusable["reason"], detail: string) =>
    new RecordingUnusable({ name, reason, detail })
  const lengths = `between ${secondsMin} and ${secondsMax} seconds are needed`
  // Cut a little past the limit, so its whole length is not known.
  if (seconds > secondsMax) return unusable("too_long", `it is longer than ${secondsMax} seconds; ${lengths}`)
  if (seconds < secondsMin) return unusable("too_short", `it is ${seconds.toFixed(1)} seconds long; ${lengths}`)
  if (levels.silenceRatio > silenceRatioMax) {
    return unusable(
      "silent",
      `${percent(levels.silenceRatio)} of it is silence; ${percent(silenceRatioMax)} at most may be`
    )
  }
  if (levels.clippingRatio > clippingRatioMax) {
    return unusable("clipped", `it is too loud: ${percent(levels.clippingRatio)} of it is cut off at full scale`)
  }
  return null
}

const percent = (ratio: number) => `${(ratio * 100).toFixed(1)} %`
