/** A recording as it was decoded: what somebody said, and what its samples tell about how it was recorded. */

/** Wide enough for what recognisers and speaker checks hear. */
export const recordingHz = 16_000

export interface RecordingLevels {
  /** Of full scale; -Infinity when nothing is heard at all. */
  readonly rmsDbfs: number
  readonly peakDbfs: number
  /** Share of the time, 0 to 1, that is silence: 35 dB below the loud parts, or below -50 dBFS. */
  readonly silenceRatio: number
  /** Share of the samples, 0 to 1, that stand at full scale, beside another one that does. */
  readonly clippingRatio: number
  /** The loud parts over the quiet ones; an estimate, for speech has pauses. */
  readonly snrDb: number
}

export interface Recording {
  /** Mono, at `recordingHz`. */
  readonly samples: Int16Array
  /** Of the decoded samples, whatever the file says of itself. */
  readonly seconds: number
  readonly levels: RecordingLevels
}

/** What a recording must be to be taken. */
export interface RecordingLimits {
  /** What the caller calls it, for the errors: `sample`, `consent_recording`. */
  readonly name: string
  readonly secondsMin: number
  readonly secondsMax: number
  readonly silenceRatioMax: number
  readonly clippingRatioMax: number
}
