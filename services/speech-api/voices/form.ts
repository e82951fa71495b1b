/** The form of a new voice, checked completely: every fault at once, by the name of its part. Pure. */
import { Result, Schema } from "effect"
import {
  avatarBytesMax,
  consentRecordingBytesMax,
  DeclaredConsent,
  fullNameBytesMax,
  sampleBytesMax,
  voiceGenders,
  voiceNameCharactersMax
} from "#speech/api"
import type { Form, FormFile, FormSpec } from "#http"
import { faultOfPersonName, type UsedChallenge } from "./Challenges.ts"
import { clonableLocales } from "./speakable.ts"

export interface VoiceOrder {
  readonly name: string
  readonly gender: "male" | "female" | "not_specified"
  readonly locale: string
  readonly sample: FormFile
  readonly avatar: FormFile | undefined
  readonly consent: GivenConsent
}

/** Consent by a phrase that was read, or by declaration. */
export type GivenConsent =
  | { readonly _tag: "Read"; readonly recording: FormFile; readonly used: UsedChallenge }
  | { readonly _tag: "Declared"; readonly fullName: string; readonly email: string }

/** How consent must be given; `used` is missing if no challenge was named. */
export type Flow =
  | { readonly _tag: "Challenge"; readonly used: UsedChallenge | undefined }
  | { readonly _tag: "Declared" }

export const voiceFormSpec: FormSpec = {
  // The bytes of a valid form, with some room, so that the refusal of a longer field can say what is wrong.
  fields: {
    name: { bytesMax: 2_048 },
    gender: { bytesMax: 256 },
    locale: { bytesMax: 256 },
    consent_challenge_id: { bytesMax: 512 },
    consent: { bytesMax: 4_096 },
    idempotency_key: { bytesMax: 2_048 }
  },
  files: {
    sample: { bytesMax: sampleBytesMax },
    consent_recording: { bytesMax: consentRecordingBytesMax },
    avatar: { bytesMax: avatarBytesMax }
  },
  bytesMax: sampleBytesMax + consentRecordingBytesMax + avatarBytesMax + 65_536
}

type Faults = Record<string, string>

export const readVoiceForm = (form: Form, flow: Flow): Result.Result<VoiceOrder, Faults> => {
  const faults: Faults = {}
  const { fields, files } = form
  const name = (fields["name"] ?? "").trim()
  const nameFault = faultOfVoiceName(name)
  if (nameFault !== undefined) faults["name"] = fields["name"] === undefined ? missing : nameFault
  const gender = genderOf(fields["gender"])
  if (gender === undefined) faults["gender"] = fields["gender"] === undefined ? missing : `must be one of ${genders}`
  const locale = localeOf(fields["locale"] ?? "en-US")
  if (locale === undefined) faults["locale"] = `must be one of ${clonableLocales.join(", ")}`
  const { sample, avatar } = files
  if (sample === undefined) faults["sample"] = missing
  const consent =
    flow._tag === "Declared"
      ? declaredIn(fields["consent"], faults)
      : readIn(files["consent_recording"], flow.used, faults)
  if (gender === undefined || locale === undefined || sample === undefined || consent === undefined) {
    return Result.fail(faults)
  }
  if (Object.keys(faults).length > 0) return Result.fail(faults)
  return Result.succeed({ name, gender, locale, sample, avatar, consent })
}

const missing = "is missing"
const genders = voiceGenders.join(", ")

const faultOfVoiceName = (name: string) => {
  const characters = [...name].length
  if (characters > voiceNameCharactersMax) return `has ${characters} characters, at most ${voiceNameCharactersMax}`
  return faultOfPersonName(name)
}

const genderOf = (gender: string | undefined): VoiceOrder["gender"] | undefined => {
  if (gender === "male" || gender === "female") return gender
  return gender === "not_specified" || gender === "notSpecified" ? "not_specified" : undefined
}

const localeOf = (asked: string) => clonableLocales.find((locale) => locale.toLowerCase() === asked.toLowerCase())

const readIn = (
  recording: FormFile | undefined,
  used: UsedChallenge | undefined,
  faults: Faults
): GivenConsent | undefined => {
  if (used === undefined) faults["consent_challenge_id"] = missing
  if (recording === undefined) faults["consent_recording"] = missing
  return used === undefined || recording === undefined ? undefined : { _tag: "Read", recording, used }
}

const decodeDeclared = Schema.decodeUnknownResult(Schema.fromJsonString(DeclaredConsent))

const declaredIn = (text: string | undefined, faults: Faults): GivenConsent | undefined => {
  const declared = text === undefined ? undefined : decodeDeclared(text)
  if (declared !== undefined && Result.isSuccess(declared)) {
    const { fullName, email } = declared.success
    const isLong = Buffer.byteLength(fullName) > fullNameBytesMax
    const fault = isLong ? `is longer than ${fullNameBytesMax} bytes of UTF-8` : faultOfPersonName(fullName)
    if (fault === undefined) return { _tag: "Declared", fullName, email }
    faults["consent"] = `fullName ${fault}`
  } else {
    faults["consent"] = text === undefined ? missing : 'must be JSON like {"fullName": "...", "email": "..."}'
  }
  return undefined
}
