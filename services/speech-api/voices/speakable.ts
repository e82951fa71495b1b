/**
 * The voices that an order can be spoken with: the catalogue's, and those of the caller's own that it names. One read
 * looks for another workspace's voice and for one that never existed, and finds neither. A voice is not offered while
 * all synthesizers that report its engine say that it failed, and counts as opening while none has opened it yet.
 */
import { Context, Effect, Layer, Option, Stream } from "effect"
import { Configuration, type ConfigurationFile } from "#configuration"
import { type EngineVoice, type ModelId, SynthesizerEngines } from "#speech/contract"
import { supervise } from "#runtime"
import {
  type Catalogue,
  engineVoice,
  type UsableCatalogue,
  type SharedVoice,
  sharedVoices,
  SilentEngines
} from "#speech"
import { clonedEngineVoice, zeroShotVoice } from "#speech/cloning"
import { Kv } from "#bus"
import { ClonedVoices } from "./ClonedVoices.ts"
import type { ClonedVoice } from "./records.ts"
import { refusalOfVoice } from "../refusals.ts"
import { configuredCatalogue } from "./configured-catalogue.ts"

/** What a plan needs to know of a voice, shared or cloned by a workspace. */
export interface SpeakableVoice extends Pick<SharedVoice, "id" | "displayName" | "locale" | "models" | "isRealTime"> {
  /** Models that speak with it only in other workspaces. */
  readonly withheld: ReadonlyArray<ModelId>
  /** No engine can speak with it at present. */
  readonly isSilent?: boolean
  /** Its engine is being opened, which can take seconds. */
  readonly isOpening?: boolean
  /** Nothing for a locale that the voice does not speak. */
  readonly engineVoice: (locale: string) => EngineVoice | undefined
}

export type FindVoice = (id: string) => SpeakableVoice | undefined

// A bound, so that a dialogue of many cloned voices does not flood the broker.
const readsAtOnce = 8

/** The engines that every synthesizer is still opening; none are known where their reports are not followed. */
const OpeningEngines = Context.Reference<() => ReadonlySet<string>>("starling/speech-api/OpeningEngines", {
  defaultValue: () => () => new Set()
})

export const voicesFor = Effect.fnUntraced(function* (
  workspace: string,
  turns: ReadonlyArray<{ readonly voice_id: string }>
) {
  const ofCatalogue = sharedSpeakable(yield* configuredCatalogue, (yield* OpeningEngines)())
  const ids = [...new Set(turns.map((turn) => turn.voice_id))].filter((id) => ofCatalogue(id) === undefined)
  if (ids.length === 0) return ofCatalogue
  const voices = yield* ClonedVoices
  const { VoiceCloning } = yield* Configuration
  const rules = cloneRules(VoiceCloning, workspace)
  const found = new Map<string, SpeakableVoice>()
  yield* Effect.forEach(
    ids,
    (id) =>
      Effect.map(Effect.mapError(voices.find(workspace, id), refusalOfVoice), (voice) => {
        if (Option.isSome(voice)) found.set(id, speakableClone(voice.value, rules))
      }),
    { concurrency: readsAtOnce, discard: true }
  )
  const findVoice: FindVoice = (id) => ofCatalogue(id) ?? found.get(id)
  return findVoice
})

export const sharedSpeakable =
  (
    { byId, isSilent = () => false }: Catalogue & Partial<UsableCatalogue>,
    opening: ReadonlySet<string> = new Set()
  ): FindVoice =>
  (id) => {
    const voice = byId(id)
    if (voice === undefined) return undefined
    const { displayName, isRealTime = true, locale, models } = voice
    const speaks = { id, displayName, isRealTime, locale, models, withheld: [] }
    return {
      ...speaks,
      isSilent: isSilent(voice),
      isOpening: opening.has(voice.engine.engine),
      engineVoice: (spoken) => engineVoice(voice, spoken)
    }
  }

/** The deployment's settings that decide how clones speak in a workspace. */
export interface CloneRules {
  /** The expressive model can speak with cloned voices. */
  readonly isExpressive: boolean
  /** A zero-shot model can speak with voices that have a reference. */
  readonly isZeroShot: boolean
}

export const cloneRules = (
  { ExpressiveModelWorkspaces, ZeroShotModelFolder }: ConfigurationFile["VoiceCloning"],
  workspace: string
): CloneRules => ({
  isExpressive: ExpressiveModelWorkspaces.includes(workspace),
  isZeroShot: ZeroShotModelFolder !== ""
})

export const speakableClone = (
  { id, name, locale, gender, traits, reference }: ClonedVoice,
  { isExpressive, isZeroShot }: CloneRules
): SpeakableVoice => ({
  id,
  displayName: name,
  locale,
  models: clonedModels(locale, isExpressive),
  withheld: isExpressive ? [] : [expressiveModel],
  engineVoice: (spoken) =>
    isZeroShot && reference !== null ? zeroShotVoice(traits, reference) : clonedEngineVoice(traits, spoken, gender)
})

const expressiveModel: ModelId = "tts-3.2"

const modelsByLocale = new Map(
  sharedVoices.filter(({ engine }) => engine.engine === "espeak").map(({ locale, models }) => [locale, models])
)

/** The locales that a cloned voice can have. */
export const clonableLocales: ReadonlyArray<string> = [...modelsByLocale.keys()]

/**
 * The models and languages of a cloned voice: those of the catalogue's voices of its locale. The expressive model
 * speaks with it in some workspaces only.
 */
export const clonedModels = (locale: string, isExpressive: boolean): SharedVoice["models"] =>
  (modelsByLocale.get(locale) ?? []).filter(({ name }) => isExpressive || name !== expressiveModel)

/** Full subtags: `en` matches `en-US`, `e` matches nothing. */
export const isInRange = (locale: string, range: string) => {
  const [tag, wanted] = [locale.toLowerCase(), range.toLowerCase()]
  return tag === wanted || tag.startsWith(`${wanted}-`)
}

// The rest of a second is for making and sending the refusal.
const openingMsMax = 500
const lookEveryMs = 50

/** Like `voicesFor`, after giving an engine that one of the voices needs a moment to become ready. */
export const voicesOnceOpened = Effect.fnUntraced(function* (
  workspace: string,
  turns: ReadonlyArray<{ readonly voice_id: string }>
) {
  for (let waitedMs = 0; ; waitedMs += lookEveryMs) {
    const findVoice = yield* voicesFor(workspace, turns)
    const isOpening = turns.some((turn) => findVoice(turn.voice_id)?.isOpening === true)
    if (!isOpening || waitedMs >= openingMsMax) return findVoice
    yield* Effect.sleep(lookEveryMs)
  }
})

/** The states of engines, as the synthesizers report them. Needs the bus. */
export const announcedEngines = Layer.effectContext(
  Effect.gen(function* () {
    const kv = yield* Kv
    let opening: ReadonlySet<string> = new Set()
    let silent: ReadonlySet<string> = new Set()
    const follow = Effect.gen(function* () {
      const announced = new Map<string, SynthesizerEngines>()
      const bucket = yield* kv.open("speech-engines", SynthesizerEngines)
      yield* Stream.runForEach(bucket.changes, ({ key, entry }) =>
        Effect.gen(function* () {
          if (Option.isSome(entry)) announced.set(key, entry.value.value)
          else announced.delete(key)
          const now = silentAmong([...announced.values()])
          for (const engine of now)
            if (!silent.has(engine)) yield* Effect.logWarning(`no synthesizer can speak with ${engine}`)
          for (const engine of silent) if (!now.has(engine)) yield* Effect.logInfo(`${engine} can speak again`)
          silent = now
          opening = openingAmong([...announced.values()])
        })
      )
      return yield* Effect.fail("the bucket is no longer followed")
    })
    yield* Effect.forkScoped(supervise("engines of synthesizers", follow))
    return Context.make(SilentEngines, () => silent).pipe(Context.add(OpeningEngines, () => opening))
  })
)

/** Pure. */
export const openingAmong = (announced: ReadonlyArray<SynthesizerEngines>): ReadonlySet<string> => {
  const states = announced.flatMap(({ engines }) => Object.entries(engines))
  const ready = new Set(states.flatMap(([engine, { state }]) => (state === "ready" ? [engine] : [])))
  return new Set(states.flatMap(([engine, { state }]) => (state === "opening" && !ready.has(engine) ? [engine] : [])))
}

/** Pure. */
export const silentAmong = (announced: ReadonlyArray<SynthesizerEngines>): ReadonlySet<string> => {
  const states = announced.flatMap(({ engines }) => Object.entries(engines))
  const usable = new Set(states.flatMap(([engine, { state }]) => (state === "failed" ? [] : [engine])))
  return new Set(states.flatMap(([engine]) => (usable.has(engine) ? [] : [engine])))
}
