/**
 * How far a session may run ahead of its client. Pure. The windows of all sessions together stay within the
 * process' bound, so slow clients cost a known amount of memory; a lone session gets ten seconds.
 */
import { speechSampleRateHz } from "#contracts"

const bytesPerSample = 2
const windowSamplesMax = 10 * speechSampleRateHz
// Below half a second the frames of a window could not keep an encoder busy.
const windowSamplesMin = speechSampleRateHz / 2

export const windowOf = (bytesMax: number, sessions: number): number =>
  Math.max(windowSamplesMin, Math.min(windowSamplesMax, Math.floor(bytesMax / bytesPerSample / Math.max(1, sessions))))
