/**
 * The files of jobs in the object store, by `<workspace>.<job>`: the plan, the sound and the marks of each passage until
 * its chapter is written, and the chapters' own. A file without a record belongs to nobody, and expires.
 */
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { type BusError, BusUnavailable, Objects } from "#bus"
import { type JobAddress, jobKey, JobPlan, type JobRecord, type PassagePlace, SpokenPassage } from "./record.ts"

const store = "speech-job-files"

const chapterParts = ["audio", "marks", "vtt", "srt"] as const
export type ChapterPart = (typeof chapterParts)[number]

export interface JobFile {
  readonly bytes: number
  readonly content: Stream.Stream<Uint8Array, BusError>
}

export class JobFiles extends Context.Service<
  JobFiles,
  {
    readonly keepPlan: (address: JobAddress, plan: JobPlan) => Effect.Effect<void, BusError>
    readonly plan: (address: JobAddress) => Effect.Effect<JobPlan, BusError>
    /** Stores the sound first: a passage with marks is whole. `spoken` is read once the sound has ended. */
    readonly keepPassage: <E>(
      address: JobAddress,
      place: PassagePlace,
      sound: Stream.Stream<Uint8Array, E>,
      spoken: () => SpokenPassage
    ) => Effect.Effect<SpokenPassage, BusError>
    readonly passage: (address: JobAddress, place: PassagePlace) => Effect.Effect<SpokenPassage, BusError>
    readonly sound: (address: JobAddress, place: PassagePlace) => Stream.Stream<Uint8Array, BusError>
    readonly removePassages: (address: JobAddress, chapter: number, passages: number) => Effect.Effect<void, BusError>
    /** Returns its size in bytes. */
    readonly keep: <E>(
      address: JobAddress,
      chapter: number,
      part: ChapterPart,
      content: Stream.Stream<Uint8Array, E>
    ) => Effect.Effect<number, BusError>
    readonly find: (
      address: JobAddress,
      chapter: number,
      part: ChapterPart
    ) => Effect.Effect<Option.Option<JobFile>, BusError>
    readonly removeAll: (job: JobRecord) => Effect.Effect<void, BusError>
    /** Removes what a process that died, or a job that was removed, left half stored. */
    readonly removeUnfinished: Effect.Effect<number, BusError>
  }
>()("starling/speech-api/JobFiles") {
  static readonly layer = Layer.effect(
    JobFiles,
    Effect.map(Objects, (objects) => {
      const putJson = (name: string, value: unknown) =>
        objects.put(store, name, Stream.make(utf8.encode(JSON.stringify(value))))
      const read = Effect.fnUntraced(function* <A>(schema: Schema.Codec<A, A>, name: string) {
        const bytes = Buffer.concat(yield* Stream.runCollect(objects.get(store, name)))
        const decoded = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(bytes.toString("utf8"))
        return yield* Effect.mapError(
          decoded,
          ({ message }) => new BusUnavailable({ operation: `read ${store}/${name}`, detail: message })
        )
      })
      const remove = (name: string) =>
        Effect.flatMap(objects.info(store, name), (found) =>
          Option.isSome(found) ? objects.remove(store, name) : Effect.void
        )
      const removeEach = (names: ReadonlyArray<string>) =>
        Effect.forEach(names, remove, { concurrency: removingMax, discard: true })
      return JobFiles.of({
        keepPlan: (address, plan) => Effect.asVoid(putJson(planName(address), plan)),
        plan: (address) => read(JobPlan, planName(address)),
        keepPassage: Effect.fnUntraced(function* (address, place, sound, spoken) {
          yield* objects.put(store, passageName(address, place, "pcm"), sound)
          const passage = spoken()
          yield* putJson(passageName(address, place, "marks"), passage)
          return passage
        }),
        passage: (address, place) => read(SpokenPassage, passageName(address, place, "marks")),
        sound: (address, place) => objects.get(store, passageName(address, place, "pcm")),
        removePassages: (address, chapter, passages) => removeEach(passageNames(address, chapter, passages)),
        keep: (address, chapter, part, content) =>
          Effect.map(objects.put(store, fileName(address, chapter, part), content), ({ bytes }) => bytes),
        find: (address, chapter, part) => {
          const name = fileName(address, chapter, part)
          const content = objects.get(store, name)
          return Effect.map(
            objects.info(store, name),
            Option.map(({ bytes }) => ({ bytes, content }))
          )
        },
        removeAll: (job) => removeEach(namesOf(job)),
        removeUnfinished: objects.removeUnfinished(store, unfinishedMs)
      })
    })
  )
}

const utf8 = new TextEncoder()
// A passage rests while listeners need its engine, but not for a day.
const unfinishedMs = 86_400_000
// Each takes two round trips.
const removingMax = 8

const planName = (address: JobAddress) => `${jobKey(address)}.plan`
const fileName = (address: JobAddress, chapter: number, part: ChapterPart) => `${jobKey(address)}.${chapter}.${part}`
const passageName = (address: JobAddress, { chapter, passage }: PassagePlace, part: "pcm" | "marks") =>
  `${jobKey(address)}.${chapter}.${passage}.${part}`

const passageNames = (address: JobAddress, chapter: number, passages: number) =>
  Array.from({ length: passages }, (_, passage) => [
    passageName(address, { chapter, passage }, "pcm"),
    passageName(address, { chapter, passage }, "marks")
  ]).flat()

const namesOf = (job: JobRecord) => [
  planName(job),
  ...job.chapters.flatMap(({ passages }, chapter) => [
    ...chapterParts.map((part) => fileName(job, chapter, part)),
    ...passageNames(job, chapter, passages)
  ])
]
