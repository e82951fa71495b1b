/**
 * From percentages to the features of flite's voices. kal16 (diphones) takes mean and deviation of the pitch in Hz. The
 * others (statistical) take a factor for the mean and the deviation in Hz, except rms, which has its own model of pitch
 * and takes neither.
 */
import type { EngineVoice } from "#contracts"
import type { EnginePiece } from "../Engine.ts"

/** The packages that the host must have installed, by their Debian names. */
export const flitePackages = "libflite1"

export const fliteVoices = ["kal16", "awb", "rms", "slt"] as const
export type FliteVoice = (typeof fliteVoices)[number]

export const isFliteVoice = (name: string): name is FliteVoice => (fliteVoices as ReadonlyArray<string>).includes(name)

/** Hz of the voices when nothing is set. */
const ownPitch: Record<FliteVoice, { readonly mean: number | null; readonly deviation: number }> = {
  kal16: { mean: 95, deviation: 11 },
  awb: { mean: null, deviation: 24 },
  rms: { mean: null, deviation: 15 },
  slt: { mean: null, deviation: 25 }
}

export type FliteFeatures = Readonly<Record<string, number>>

export const fliteFeatures = (
  name: FliteVoice,
  voice: EngineVoice,
  piece: Omit<EnginePiece, "text" | "volumeDb">
): FliteFeatures => {
  const rate = within(0.2, (voice.ratePercent * piece.ratePercent) / 10_000, 5)
  const pitch = within(0.3, (voice.pitchPercent * piece.pitchPercent) / 10_000, 3)
  const range = within(0, (voice.rangePercent * piece.rangePercent) / 10_000, 4)
  const own = ownPitch[name]
  const deviation = own.deviation * pitch * range
  return {
    duration_stretch: 1 / rate,
    ...(own.mean === null ? { f0_shift: pitch } : { int_f0_target_mean: own.mean * pitch }),
    ...(pitch === 1 && range === 1 ? {} : { int_f0_target_stddev: deviation })
  }
}

const within = (least: number, value: number, most: number) => Math.max(least, Math.min(most, value))
