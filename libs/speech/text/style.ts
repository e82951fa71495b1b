/**
 * How a piece of text is to be spoken. The four numbers are final: prosody multiplied through its nesting, then
 * the emotion and the emphasis, then held within limits. `emotion` and `emphasis` say where they came from, for
 * an engine that has voices for them; any other engine needs only the numbers.
 */
import { type Emotion, emotions } from "./emotions.ts"
import { combineProsody, plainProsody, type Prosody } from "./prosody.ts"

export const emphases = {
  strong: { ratePercent: 86, pitchPercent: 114, rangePercent: 140, volumeDb: 4 },
  moderate: { ratePercent: 93, pitchPercent: 107, rangePercent: 120, volumeDb: 2 },
  none: plainProsody,
  reduced: { ratePercent: 106, pitchPercent: 95, rangePercent: 80, volumeDb: -3 }
} as const satisfies Record<string, Prosody>

export type Emphasis = keyof typeof emphases

export const isEmphasis = (name: string): name is Emphasis => Object.hasOwn(emphases, name)

export interface Style extends Prosody {
  readonly emotion: Emotion | null
  readonly emphasis: Emphasis | null
}

/** Nothing may be slower, lower or louder than this, however it is nested. */
const limits = {
  ratePercent: [50, 10_000],
  pitchPercent: [17, 200],
  rangePercent: [0, 400],
  volumeDb: [-96, 12]
} as const satisfies Record<keyof Prosody, readonly [number, number]>

const within = (name: keyof Prosody, value: number) => {
  const [least, most] = limits[name]
  return Math.round(Math.min(most, Math.max(least, value)) * 100) / 100
}

export const styleOf = (prosody: Prosody, emotion: Emotion | null, emphasis: Emphasis | null): Style => {
  const felt = emotion === null ? prosody : combineProsody(prosody, emotions[emotion])
  const final = emphasis === null ? felt : combineProsody(felt, emphases[emphasis])
  return {
    ratePercent: within("ratePercent", final.ratePercent),
    pitchPercent: within("pitchPercent", final.pitchPercent),
    rangePercent: within("rangePercent", final.rangePercent),
    volumeDb: within("volumeDb", final.volumeDb),
    emotion,
    emphasis
  }
}

/** As the voice speaks when nothing is asked of it. */
export const plainStyle: Style = styleOf(plainProsody, null, null)

export const sameStyle = (left: Style, right: Style): boolean =>
  left === right ||
  (left.ratePercent === right.ratePercent &&
    left.pitchPercent === right.pitchPercent &&
    left.rangePercent === right.rangePercent &&
    left.volumeDb === right.volumeDb &&
    left.emotion === right.emotion &&
    left.emphasis === right.emphasis)
