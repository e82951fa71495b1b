/**
 * The voices that speak what a text's own voice does not: stretches of an element `lang`, and words in a script that
 * the voice cannot read. The voice itself if its engine speaks the language, else a voice of the catalogue, of the same
 * gender if there is one. Pure.
 */
import type { OtherVoice, SpeechTurn } from "#speech/contract"
import type { UsableCatalogue } from "./catalogue.ts"
import { isSsml } from "./ssml/document.ts"
import { scriptsBeyond } from "./text/scripts.ts"
import { engineVoice, espeakLanguages, espeakReaders, type SharedVoice } from "./voices.ts"

/** More languages than any text has; the rest is refused as unknown. */
const otherVoicesMax = 24

type Speakers = Pick<UsableCatalogue, "voices" | "byId" | "isSilent">
type Speaking = Pick<SpeechTurn, "voiceId" | "voice" | "input" | "locale">

/** `speed`: how many times its own pace a voice should speak. */
export const otherVoices = (speakers: Speakers, turn: Speaking, speed: number): ReadonlyArray<OtherVoice> => {
  const { input, locale } = turn
  const scripts = scriptsBeyond(input, locale).map(({ language, locale: usual, readBy }) => ({
    language,
    isSpoken: (spoken: string) => readBy.includes(baseOf(spoken)),
    usual
  }))
  const languages = languagesOf(input).map((language) => ({ language, isSpoken: rangeOf(language), usual: language }))
  return [...scripts, ...languages].slice(0, otherVoicesMax).flatMap(({ language, isSpoken, usual }) => {
    const found = voiceFor(speakers, turn, { isSpoken, usual })
    if (found === undefined) return []
    const voice =
      found.voiceId === turn.voiceId ? found.voice : { ...found.voice, ratePercent: found.voice.ratePercent * speed }
    return [{ language, voiceId: found.voiceId, voice, locale: found.locale }]
  })
}

const langTag = /<(?:[\w.-]+:)?lang\s([^<>]*)/gu
const langOf = /xml:lang\s*=\s*(?:"([^"]{1,35})"|'([^']{1,35})')/u

/** The tags of the document's elements `lang`, as written. */
const languagesOf = (input: string): ReadonlyArray<string> =>
  isSsml(input)
    ? [...new Set(Array.from(input.matchAll(langTag), ([, attributes = ""]) => languageIn(attributes)))].filter(Boolean)
    : []

const languageIn = (attributes: string) => {
  const [, double, single] = langOf.exec(attributes) ?? []
  return double ?? single ?? ""
}

const baseOf = (locale: string) => locale.replace(/-.*$/su, "").toLowerCase()

/** Whether a voice's locale speaks the language: another region of it does. */
const rangeOf = (language: string) => (locale: string) => baseOf(locale) === baseOf(language)

interface Wish {
  readonly isSpoken: (locale: string) => boolean
  /** The preferred locale among those. */
  readonly usual: string
}

type Found = Omit<OtherVoice, "language">

const matches = (tag: string) => (locale: string) => locale.toLowerCase() === tag.toLowerCase()

/** The preferred locale comes before another region of the language, and the voice itself before another one. */
const voiceFor = (speakers: Speakers, turn: Speaking, { isSpoken, usual }: Wish): Found | undefined => {
  const own = { voiceId: turn.voiceId, voice: turn.voice, locale: turn.locale }
  if (isSpoken(turn.locale) && (!usual.includes("-") || matches(usual)(turn.locale))) return own
  return (
    inOtherLanguage(own, matches(usual)) ??
    nativeVoice(speakers, turn, matches(usual)) ??
    (isSpoken(turn.locale) ? own : inOtherLanguage(own, isSpoken)) ??
    nativeVoice(speakers, turn, isSpoken) ??
    readerOf(speakers, turn, isSpoken)
  )
}

const espeakNames: Readonly<Record<string, string>> = { ...espeakLanguages, ...espeakReaders }

/** A voice of espeak-ng in another of its languages: the throat stays. */
const inOtherLanguage = ({ voiceId, voice }: Found, isSpoken: (locale: string) => boolean): Found | undefined => {
  const locale = voice.engine === "espeak" ? Object.keys(espeakNames).find(isSpoken) : undefined
  const name = locale === undefined ? undefined : espeakNames[locale]
  if (locale === undefined || name === undefined) return undefined
  return { voiceId, voice: { ...voice, name: voice.name.replace(/^[^+]*/u, name) }, locale }
}

const nativeVoice = (speakers: Speakers, turn: Speaking, isSpoken: (locale: string) => boolean): Found | undefined => {
  const native = bestUsable(speakers, turn, ({ locale }) => isSpoken(locale))
  const voice = native === undefined ? undefined : engineVoice(native)
  return native === undefined || voice === undefined ? undefined : { voiceId: native.id, voice, locale: native.locale }
}

/** For a language that no voice has as its own. */
const readerOf = (speakers: Speakers, turn: Speaking, isSpoken: (locale: string) => boolean): Found | undefined => {
  const reader = bestUsable(speakers, turn, ({ engine }) => engine.engine === "espeak")
  if (reader === undefined) return undefined
  return inOtherLanguage({ voiceId: reader.id, voice: reader.engine, locale: reader.locale }, isSpoken)
}

const bestUsable = (
  { voices, byId, isSilent }: Speakers,
  { voiceId }: Speaking,
  isWanted: (voice: SharedVoice) => boolean
): SharedVoice | undefined => {
  const usable = voices.filter((voice) => isWanted(voice) && !isSilent(voice))
  const gender = byId(voiceId)?.gender
  return usable.find((voice) => voice.gender === gender) ?? usable[0]
}
