/**
 * Whether a recording is the consent it claims to be: the phrase was read, and by the speaker of the sample. Both
 * recordings are judged first, then the phrase, then the speaker, cheapest check first. Bounded in the number at once,
 * the number waiting, and the time of each. Nothing is stored here; the caller keeps the evidence.
 */
import { Context, Effect, Layer, Option, Semaphore } from "effect"
import { judgeRecording, type Recording, type RecordingLimits, type RecordingUnusable } from "#speech/audio"
import type { VoiceCloning } from "#speech/contract"
import { defineCounter, Metrics } from "#runtime"
import { PhraseCheck, pocketsphinxLayer } from "./PhraseCheck.ts"
import { SpeakerCheck, speakerCheckLayer } from "./SpeakerCheck.ts"
import { type ConsentEvidence, PhraseMismatch, SpeakerMismatch, VerificationUnavailable } from "./verdict.ts"

type Section = VoiceCloning

/** The limits of the two recordings of a consent. */
export const consentLimits = (
  section: Section
): { readonly sample: RecordingLimits; readonly consentRecording: RecordingLimits } => {
  const levels = { silenceRatioMax: section.SilenceRatioMax, clippingRatioMax: section.ClippingRatioMax }
  return {
    sample: {
      name: "sample",
      secondsMin: section.SampleSecondsMin,
      secondsMax: section.SampleSecondsMax,
      ...levels
    },
    consentRecording: {
      name: "consent_recording",
      secondsMin: section.ConsentSecondsMin,
      secondsMax: section.ConsentSecondsMax,
      ...levels
    }
  }
}

interface ConsentClaim {
  /** The words of the phrase that the speaker was asked to read. */
  readonly words: ReadonlyArray<string>
  readonly recording: Recording
  readonly sample: Recording
}

export type ConsentRefusal = PhraseMismatch | SpeakerMismatch | RecordingUnusable | VerificationUnavailable

// Behind those in progress; each takes about a second.
const waitingMax = 8
const stageMsMax = 20_000

const consentChecks = defineCounter({
  name: "speech_consent_checks_total",
  help: "Consents verified, by outcome: verified, phrase_mismatch, speaker_mismatch, unusable, unavailable.",
  labels: ["outcome"],
  values: { outcome: ["verified", "phrase_mismatch", "speaker_mismatch", "unusable", "unavailable"] }
})

export const consentMetrics = [consentChecks]

export class ConsentVerification extends Context.Service<
  ConsentVerification,
  { readonly verify: (claim: ConsentClaim) => Effect.Effect<ConsentEvidence, ConsentRefusal> }
>()("starling/speech/ConsentVerification") {
  static readonly layerNoDeps = (section: Section) =>
    Layer.effect(
      ConsentVerification,
      Effect.gen(function* () {
        const limits = consentLimits(section)
        const phrase = yield* PhraseCheck
        const speaker = yield* SpeakerCheck
        const outcomes = (yield* Metrics).counter(consentChecks)
        const queue = yield* Semaphore.make(section.VerificationsMax + waitingMax)
        const slots = yield* Semaphore.make(section.VerificationsMax)

        const inStage = <A>(stage: "phrase" | "speaker", check: Effect.Effect<A, VerificationUnavailable>) =>
          Effect.timeoutOrElse(check, {
            duration: stageMsMax,
            orElse: () => Effect.fail(unavailable(stage, "timeout", `no answer within ${stageMsMax} ms`))
          })

        const check = Effect.fnUntraced(function* ({ words, recording, sample }: ConsentClaim) {
          const fault = judgeRecording(sample, limits.sample) ?? judgeRecording(recording, limits.consentRecording)
          if (fault !== null) return yield* fault
          const transcript = yield* inStage("phrase", phrase.transcribe(recording))
          const matched = phraseWordsMatched(words, transcript)
          const wordsMin = Math.min(section.PhraseWordsMin, words.length)
          const counts = { heardWords: transcript, wordsMatched: matched, wordsAsked: words.length }
          if (matched < wordsMin) return yield* new PhraseMismatch({ ...counts, wordsMin })
          const { distanceMax, method } = speaker
          const distance = yield* inStage("speaker", speaker.distance(recording, sample))
          if (!Number.isFinite(distance)) return yield* unavailable("speaker", "failed", `the distance is ${distance}`)
          if (distance > distanceMax) return yield* new SpeakerMismatch({ distance, distanceMax, method })
          const evidence: ConsentEvidence = {
            ...counts,
            phraseEngine: phrase.engine,
            speakerDistance: distance,
            speakerThreshold: distanceMax,
            speakerMethod: method,
            speakerStrength: speaker.strength
          }
          return evidence
        })

        const busy = () => Effect.fail(unavailable("verification", "busy", `${waitingMax} others wait already`))

        const verify = Effect.fn("ConsentVerification.verify")((claim: ConsentClaim) =>
          check(claim).pipe(
            slots.withPermit,
            queue.withPermitsIfAvailable(1),
            Effect.flatMap(Option.match({ onNone: busy, onSome: Effect.succeed })),
            Effect.tapError(({ _tag }) => Effect.sync(() => outcomes.inc({ outcome: outcomeOf[_tag] }))),
            Effect.tap(() => Effect.sync(() => outcomes.inc({ outcome: "verified" })))
          )
        )
        return ConsentVerification.of({ verify })
      })
    )

  /** Has the checks that the configuration names. Fails only for an unusable speaker model. */
  static readonly layer = (section: Section) =>
    ConsentVerification.layerNoDeps(section).pipe(
      Layer.provide([pocketsphinxLayer(section), speakerCheckLayer(section)])
    )
}

const unavailable = (
  stage: VerificationUnavailable["stage"],
  reason: VerificationUnavailable["reason"],
  detail: string
) => new VerificationUnavailable({ stage, reason, detail, retryAfterSeconds: 5 })

const outcomeOf = {
  PhraseMismatch: "phrase_mismatch",
  SpeakerMismatch: "speaker_mismatch",
  RecordingUnusable: "unusable",
  VerificationUnavailable: "unavailable"
} as const

/**
 * How many words of the phrase were heard: the length of the longest common subsequence, that is words in order,
 * whatever is between them.
 */
export const phraseWordsMatched = (phrase: ReadonlyArray<string>, transcript: ReadonlyArray<string>): number => {
  let before = phrase.map(() => 0)
  for (const word of transcript) {
    const now: Array<number> = []
    for (const [at, other] of phrase.entries()) {
      const both = word === other ? (before[at - 1] ?? 0) + 1 : 0
      now.push(Math.max(both, now[at - 1] ?? 0, before[at] ?? 0))
    }
    before = now
  }
  return before.at(-1) ?? 0
}
