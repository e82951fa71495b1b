/** Records of cloned voices as the rules see them, each field to be overridden. */
import type { FormFile } from "#http"
import type { UsedChallenge } from "../../../../services/speech-api/voices/Challenges.ts"
import type { ChallengeRecord, ClonedVoice, KeptFile } from "../../../../services/speech-api/voices/records.ts"

export const challenge = (changes: Partial<ChallengeRecord> = {}): ChallengeRecord => ({
  id: "challenge-1",
  workspace: "acme",
  fullName: "Ada Lovelace",
  phrase: "I agree. My words are: banana, candle.",
  words: ["banana", "candle"],
  tokenId: "token-1",
  createdAt: "2026-11-20T10:00:00.000Z",
  expiresAt: "2026-11-20T10:10:00.000Z",
  used: null,
  ...changes
})

export const usedChallenge = (): UsedChallenge => ({ challenge: challenge(), voiceId: "voice-1" })

export const formFile = (changes: Partial<FormFile> = {}): FormFile => ({
  path: "/tmp/sample",
  bytes: 320_000,
  sha256: "00",
  fileName: "blob",
  contentType: undefined,
  ...changes
})

export const keptFile = (changes: Partial<KeptFile> = {}): KeptFile => ({
  store: "voice-samples",
  object: "acme.voice-1.sample",
  bytes: 320_000,
  sha256: "00",
  mediaType: "audio/wav",
  ...changes
})

export const clonedVoice = (changes: Partial<ClonedVoice> = {}): ClonedVoice => ({
  _tag: "Ready",
  id: "voice-1",
  workspace: "acme",
  createdAt: "2026-11-20T10:05:00.000Z",
  changedAt: "2026-11-20T10:05:00.000Z",
  name: "Ada",
  gender: "female",
  locale: "en-GB",
  traits: {
    medianPitchHz: 200,
    pitchRangeSemitones: 4,
    syllablesPerSecond: 4.5,
    formantPercent: 110,
    speechLevelDbfs: -20
  },
  sample: keptFile(),
  avatar: null,
  reference: null,
  ...changes
})
