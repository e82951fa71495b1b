/**
 * The records of cloned voices: the challenge that a speaker reads, the voice in each of its states, and the consent
 * behind it. All are stored under `<workspace>.<id>`, so that a caller from another workspace finds nothing, by the
 * same read.
 */
import { Schema } from "effect"
import { Count, encodeToken, Timestamp, tokenCharactersMax } from "#base"
import { VoiceReference, VoiceTraits } from "#speech/contract"
import { ConsentEvidence } from "#speech/cloning"

export const ChallengeRecord = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  fullName: Schema.String,
  phrase: Schema.String,
  words: Schema.Array(Schema.String),
  tokenId: Schema.String,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  /** Null until a create names it. `by` distinguishes a retried create from another create. */
  used: Schema.NullOr(Schema.Struct({ at: Timestamp, by: Schema.NullOr(Schema.String), voiceId: Schema.String }))
})
export interface ChallengeRecord extends Schema.Schema.Type<typeof ChallengeRecord> {}

/** An object in one of the stores: its location, and its size, digest and type on arrival. */
export const KeptFile = Schema.Struct({
  store: Schema.String,
  object: Schema.String,
  bytes: Count,
  sha256: Schema.String,
  mediaType: Schema.String
})
export interface KeptFile extends Schema.Schema.Type<typeof KeptFile> {}

const ofAnyState = { id: Schema.String, workspace: Schema.String, changedAt: Timestamp }

/**
 * To callers, `Making` and `Leaving` are not voices; a process that finds one unchanged for long removes its remains.
 */
export const VoiceRecord = Schema.Union([
  Schema.TaggedStruct("Making", ofAnyState),
  Schema.TaggedStruct("Ready", {
    ...ofAnyState,
    name: Schema.String,
    gender: Schema.Literals(["male", "female", "not_specified"]),
    locale: Schema.String,
    createdAt: Timestamp,
    traits: VoiceTraits,
    sample: KeptFile,
    avatar: Schema.NullOr(KeptFile),
    /** The recording that a zero-shot model takes the voice from, if there is one. */
    reference: Schema.NullOr(VoiceReference)
  }),
  Schema.TaggedStruct("Leaving", ofAnyState)
])
export type VoiceRecord = Schema.Schema.Type<typeof VoiceRecord>
export type ClonedVoice = Extract<VoiceRecord, { readonly _tag: "Ready" }>

const verified = Schema.TaggedStruct("Verified", {
  challengeId: Schema.String,
  phrase: Schema.String,
  challengedAt: Timestamp,
  evidence: ConsentEvidence,
  recording: KeptFile
})
/** The flow without a challenge: the caller declares that the speaker agreed. */
const declared = Schema.TaggedStruct("Declared", { email: Schema.String })

export const ConsentRecord = Schema.Struct({
  /** Also the consent's own id, because a voice has one consent. */
  voiceId: Schema.String,
  workspace: Schema.String,
  fullName: Schema.String,
  /** The token of the caller that brought it. */
  tokenId: Schema.String,
  givenAt: Timestamp,
  /** When the voice was deleted, or its creation was abandoned. */
  voiceDeletedAt: Schema.NullOr(Timestamp),
  /** The sample behind the voice. The object is removed with the voice, the digest stays. */
  sample: KeptFile,
  method: Schema.Union([verified, declared])
})
export interface ConsentRecord extends Schema.Schema.Type<typeof ConsentRecord> {}

/** Nothing for an id that fits no key, and so cannot be one of ours. */
export const keyOf = (workspace: string, id: string): string | undefined => {
  if (!id.isWellFormed() || Buffer.byteLength(id) * 3 > tokenCharactersMax) return undefined
  return keyFor({ workspace, id })
}

/** The key of an id that we made. */
export const keyFor = ({ workspace, id }: { readonly workspace: string; readonly id: string }): string =>
  `${encodeToken(workspace)}.${encodeToken(id)}`

/** Matches the keys of everything in a workspace. */
export const keysOf = (workspace: string): string => `${encodeToken(workspace)}.>`
