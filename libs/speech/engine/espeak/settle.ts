/**
 * Resets espeak-ng after a job to the state in which the first job found it, so that the same job gives the same
 * samples. Four things outlive a job, whether it was spoken or broken off:
 * - the voice's position in the period of its roughness;
 * - the gain, lowered by a vowel that was clipped;
 * - the content of the list of phonemes: a later clause takes the pauses behind its end for its own;
 * - the stream of libsonic, which speeds up speech that is faster than espeak-ng itself can speak.
 * The first samples of a rolled r reveal the first two: the r is spoken again until it sounds as at first, which takes
 * at most four times unless a vowel was clipped. A clause that fills the list clears the third. The fourth ends when
 * speech is broken off, as each r is. All of it costs some 0.4 ms, after the job's last frame.
 */
import type { Espeak } from "./binding.ts"

const language = "it"
/** A voice this high has few harmonics, and is made in a third of the time. */
const high = "pitch 300 300\n"
const rolled = "rra"
/** More phonemes than the thousand that the list holds, in few words, because the list also keeps where words began. */
const everyPhoneme = `${"w".repeat(20)} `.repeat(8)
const timesMax = 16

export const makeSettle = (espeak: Espeak): (() => void) => {
  const prepare = () => {
    espeak.setVoice(language, high)
    espeak.setParameter("volume", 100)
    espeak.setParameter("rate", 175)
    espeak.setParameter("pitch", 50)
    espeak.setParameter("range", 50)
  }
  const firstSamples = () => {
    let first: Int16Array = new Int16Array(0)
    espeak.synthesize(rolled, false, (pcm) => {
      first = pcm
      return false
    })
    return Buffer.from(first.buffer)
  }
  prepare()
  const atFirst = firstSamples()
  espeak.readClause(everyPhoneme)
  return () => {
    prepare()
    for (let time = 0; time < timesMax && !firstSamples().equals(atFirst); time++);
    // Comes last: text that was broken off leaves a character, which stands before this clause until a new text begins.
    espeak.readClause(everyPhoneme)
  }
}
