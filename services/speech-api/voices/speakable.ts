/**
 * The voices that an order may be spoken with: the catalogue's, and the caller's own among those it names. One read
 * looks for another workspace's voice and for one that never existed, and finds neither. A voice is offered to nobody
 * while all synthesizers that tell of its engine say that it failed, and is soon to come while none has opened it yet.
 */
import { Context, Effect, Layer, Option, Stream } from "effect"
import { Configuration, type ConfigurationFile } from "#configuration"
import { type EngineVoice, type ModelId, SynthesizerEngines } from "#speech/contract"
import { supervise } from "#runtime"
import {
  type Catalogue,
  engineVoice,
  type HeardCatalogue,
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

/** What a plan must know of a voice, be it shared or cloned by a workspace. */
export interface SpeakableVoice extends Pick<SharedVoice, "id" | "locale" | "models"> {
  /** Models that speak with it only in other workspaces. */
  readonly withheld: ReadonlyArray<ModelId>
  /** No engine can speak with it at present. */
  readonly isSilent?: boolean
  /** Its engine is being opened, which may take seconds. */
  readonly isOpening?: boolean
  /** Nothing for a locale that the voice does not speak. */
  readonly engineVoice: (locale: string) => EngineVoice | undefined
}

export type FindVoice = (id: string) => SpeakableVoice | undefined

// A bound, so that a dialogue of many cloned voices does not flood the broker.
const readsAtOnce = 8

/** The engines that every synthesizer is still opening; none are known where nobody listens to them. */
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
    { byId, isSilent = () => false }: Catalogue & Partial<HeardCatalogue>,
    opening: ReadonlySet<string> = new Set()
  ): FindVoice =>
  (id) => {
    const voice = byId(id)
    if (voice === undefined) return undefined
    const { locale, models } = voice
    const speaks = { id, locale, models, withheld: [] }
    return {
      ...speaks,
      isSilent: isSilent(voice),
      isOpening: opening.has(voice.engine.engine),
      engineVoice: (spoken) => engineVoice(voice, spoken)
    }
  }

/** The settings of a deployment that decide how clones speak in a workspace. */
export interface CloneRules {
  /** The expressive model may speak with cloned voices. */
  readonly isExpressive: boolean
  /** A zero-shot model may speak with voices that have a reference. */
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
  { id, locale, gender, traits, reference }: ClonedVoice,
  { isExpressive, isZeroShot }: CloneRules
): SpeakableVoice => ({
  id,
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

/** The locales that a cloned voice may have. */
export const clonableLocales: ReadonlyArray<string> = [...modelsByLocale.keys()]

/**
 * The models and languages of a cloned voice: those of the catalogue's voices of its locale. The expressive model
 * speaks with it in some workspaces only.
 */
export const clonedModels = (locale: string, isExpressive: boolean): SharedVoice["models"] =>
  (modelsByLocale.get(locale) ?? []).filter(({ name }) => isExpressive || name !== expressiveModel)

/** Whole subtags: `en` takes `en-US`, `e` takes nothing. */
export const isInRange = (locale: string, range: string) => {
  const [tag, wanted] = [locale.toLowerCase(), range.toLowerCase()]
  return tag === wanted || tag.startsWith(`${wanted}-`)
}

// With the rest of a second the refusal is made and sent.
const openingMsMax = 500
const lookEveryMs = 50

/** As `voicesFor`, once an engine has had a moment to become ready that one of the voices needs. */
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

/** The states of engines, as the synthesizers tell them. Needs the bus. */
export const toldEngines = Layer.effectContext(
  Effect.gen(function* () {
    const kv = yield* Kv
    let opening: ReadonlySet<string> = new Set()
    let silent: ReadonlySet<string> = new Set()
    const follow = Effect.gen(function* () {
      const told = new Map<string, SynthesizerEngines>()
      const bucket = yield* kv.open("speech-engines", SynthesizerEngines)
      yield* Stream.runForEach(bucket.changes, ({ key, entry }) =>
        Effect.gen(function* () {
          if (Option.isSome(entry)) told.set(key, entry.value.value)
          else told.delete(key)
          const now = silentAmong([...told.values()])
          for (const engine of now)
            if (!silent.has(engine)) yield* Effect.logWarning(`no synthesizer can speak with ${engine}`)
          for (const engine of silent) if (!now.has(engine)) yield* Effect.logInfo(`${engine} can speak again`)
          silent = now
          opening = openingAmong([...told.values()])
        })
      )
      return yield* Effect.fail("the bucket is not followed any more")
    })
    yield* Effect.forkScoped(supervise("engines of synthesizers", follow))
    return Context.make(SilentEngines, () => silent).pipe(Context.add(OpeningEngines, () => opening))
  })
)

/** Pure. */
export const openingAmong = (told: ReadonlyArray<SynthesizerEngines>): ReadonlySet<string> => {
  const states = told.flatMap(({ engines }) => Object.entries(engines))
  const ready = new Set(states.flatMap(([engine, { state }]) => (state === "ready" ? [engine] : [])))
  return new Set(states.flatMap(([engine, { state }]) => (state === "opening" && !ready.has(engine) ? [engine] : [])))
}

/** Pure. */
export const silentAmong = (told: ReadonlyArray<SynthesizerEngines>): ReadonlySet<string> => {
  const states = told.flatMap(({ engines }) => Object.entries(engines))
  const usable = new Set(states.flatMap(([engine, { state }]) => (state === "failed" ? [] : [engine])))
  return new Set(states.flatMap(([engine]) => (usable.has(engine) ? [] : [engine])))
}
