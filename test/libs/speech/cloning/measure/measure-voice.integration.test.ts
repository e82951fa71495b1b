import { assert, describe, it } from "@effect/vitest"
import { isVoiced, pitchTrack, quantile } from "../../../../../libs/speech/cloning/measure/pitch-track.ts"
import { countSyllables, measureVoice } from "../../../../../libs/speech/cloning/measure/measure-voice.ts"
import { signalHz, spectralPitch, tone, type Tone, whiteNoise } from "./signals.ts"

const voiceLike = [1, 0.8, 0.6, 0.5, 0.35, 0.25, 0.2, 0.1]
const medianOf = (signal: Omit<Tone, "seconds">) =>
  quantile(pitchTrack(tone({ seconds: 1.5, ...signal }), signalHz).filter(isVoiced), 0.5) ?? Number.NaN
const steady = (hz: number) => () => hz

describe("the pitch of a voice", () => {
  it.each([55, 70, 98, 133, 180, 244, 310, 350, 440])("is measured at %d Hz within 1 %%", (hz) => {
    assert.closeTo(medianOf({ pitchAt: steady(hz), harmonics: voiceLike }) / hz, 1, 0.01)
  })
  it.each<readonly [string, ReadonlyArray<number>]>([
    ["hardly any first harmonic", [0.05, 1, 0.7, 0.5, 0.3]],
    ["no first harmonic, as on a telephone", [0, 1, 0.8, 0.6, 0.5]],
    ["a second harmonic that is by far the strongest", [0.35, 1, 0.3, 0.35, 0.2]],
    ["nothing but itself", [1]],
    ["harmonics that rise", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]]
  ])("is not mistaken for its octave when the voice has %s", (_, harmonics) => {
    for (const hz of [80, 120, 200, 280]) {
      assert.closeTo(medianOf({ pitchAt: steady(hz), harmonics }) / hz, 1, 0.02, `${hz} Hz`)
    }
  })
  it.each([-20, -10, -6])("is measured through noise of %d dB", (noiseDb) => {
    for (const hz of [75, 125, 210, 330]) {
      assert.closeTo(medianOf({ pitchAt: steady(hz), harmonics: voiceLike, noiseDb }) / hz, 1, 0.02, `${hz} Hz`)
    }
  })
  it("follows vibrato and a glide, and its middle is theirs", () => {
    const vibrato = (second: number) => 160 * 2 ** ((0.8 * Math.sin(2 * Math.PI * 5.5 * second)) / 12)
    assert.closeTo(medianOf({ pitchAt: vibrato, harmonics: voiceLike }), 160, 3)
    const track = pitchTrack(
      tone({ seconds: 2, pitchAt: (second) => 100 + 50 * second, harmonics: voiceLike }),
      signalHz
    )
    assert.closeTo(track[50] ?? 0, 126, 3)
    assert.closeTo(track[150] ?? 0, 176, 3)
  })
  it("is absent in noise, in silence, in a hum too low and in a whistle too high", () => {
    const none = [
      whiteNoise(2),
      new Int16Array(2 * signalHz),
      new Int16Array(0),
      tone({ seconds: 1, pitchAt: steady(30), harmonics: [1] })
    ]
    for (const pcm of none) assert.isBelow(pitchTrack(pcm, signalHz).filter(isVoiced).length, 4)
  })
  it("agrees with the spectrum", () => {
    for (const hz of [90, 150, 240]) {
      const pcm = tone({ seconds: 2, pitchAt: steady(hz), harmonics: voiceLike, noiseDb: -15 })
      assert.closeTo(spectralPitch(pcm, signalHz) / hz, 1, 0.02)
    }
  })
  it("does not depend on the recording's loudness", () => {
    const loud = tone({ seconds: 1, pitchAt: steady(140), harmonics: voiceLike, noiseDb: -20 })
    const soft = loud.map((sample) => Math.round(sample / 30))
    const [one, other] = [loud, soft].map((pcm) => quantile(pitchTrack(pcm, signalHz).filter(isVoiced), 0.5) ?? 0)
    assert.closeTo(one ?? 0, other ?? 1, 0.5)
  })
})

/** A syllable is a swell of loudness; a pause of a second stands after every sixth. */
const babble = (perSecond: number) => {
  const loudnessAt = (second: number) => {
    const within = (second * perSecond) % 8
    return within > 6 ? 0 : 0.02 + Math.sin(Math.PI * (within % 1)) ** 2
  }
  return tone({ seconds: 12, pitchAt: steady(130), harmonics: voiceLike, loudnessAt })
}

describe("the syllables of a voice", () => {
  it.each([3, 4, 5, 6])("are counted at %d a second, without pauses", (perSecond) => {
    const pcm = babble(perSecond)
    const { syllables, spokenSeconds } = countSyllables(pcm, signalHz, pitchTrack(pcm, signalHz))
    assert.closeTo(syllables / spokenSeconds / perSecond, 1, 0.12)
  })
})

describe("a sample", () => {
  it("has the traits of its voice", () => {
    const measured = measureVoice(babble(4), signalHz)
    assert.isTrue(measured.kind === "measured")
    if (measured.kind !== "measured") return
    assert.closeTo(measured.traits.medianPitchHz, 130, 2)
    assert.isBelow(measured.traits.pitchRangeSemitones, 0.5)
    assert.closeTo(measured.traits.syllablesPerSecond, 4, 0.6)
    assert.isTrue(measured.traits.formantPercent >= 75 && measured.traits.formantPercent <= 135)
    assert.isTrue(measured.traits.speechLevelDbfs < -10 && measured.traits.speechLevelDbfs > -30)
  })
  it.each([
    ["noise", whiteNoise(12)],
    ["silence", new Int16Array(12 * signalHz)],
    ["nothing", new Int16Array(0)],
    ["two seconds of a voice", tone({ seconds: 2, pitchAt: steady(120), harmonics: voiceLike })]
  ])("of %s has too little voice for any", (_, pcm) => {
    const measured = measureVoice(pcm, signalHz)
    assert.isTrue(measured.kind === "too_little_voice" && measured.voicedSeconds < 3)
  })
})
