/**
 * The lexicons of workspaces, in a bucket under `<workspace>.<name>`. Lexicons that were read are cached, with the
 * least recently used workspaces evicted first, and dropped on each change, which the bucket announces to every
 * process. While changes cannot be followed, every request reads.
 */
import { Clock, Context, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { type BusError, deleted, Kv, type KvEntry, records } from "#bus"
import { encodeToken, isoTime, Timestamp } from "#base"
import type { Lexeme } from "#speech/contract"
import { Configuration } from "#configuration"
import { supervise } from "#runtime"
import { type Lexicon, matcherOf, type Matcher, readLexicon } from "#speech"

export const LexiconRecord = Schema.Struct({
  name: Schema.String,
  workspace: Schema.String,
  content: Schema.String,
  isDefault: Schema.Boolean,
  updatedAt: Timestamp
})
export interface LexiconRecord extends Schema.Schema.Type<typeof LexiconRecord> {}

/** A lexicon as it is stored, and its content. */
export interface StoredLexicon extends LexiconRecord {
  readonly lexicon: Lexicon
}

/** The workspace has reached its number of lexicons. */
export class TooManyLexicons extends Schema.TaggedError<TooManyLexicons>()("TooManyLexicons", {
  lexiconsMax: Schema.Int
}) {}

/** A request names a lexicon that the workspace does not have. */
export class NoSuchLexicon extends Schema.TaggedError<NoSuchLexicon>()("NoSuchLexicon", { name: Schema.String }) {}

/** One matcher per language, so that no language's words hide another's. */
export type Matchers = ReadonlyArray<Matcher<Lexeme>>

type Address = Pick<LexiconRecord, "workspace" | "name">

export class Lexicons extends Context.Service<
  Lexicons,
  {
    readonly list: (workspace: string) => Effect.Effect<ReadonlyArray<StoredLexicon>, BusError>
    readonly put: (
      record: Omit<LexiconRecord, "updatedAt">,
      lexicon: Lexicon
    ) => Effect.Effect<StoredLexicon, TooManyLexicons | BusError>
    /** False if there was none. */
    readonly remove: (address: Address) => Effect.Effect<boolean, BusError>
    /** The words of these lexicons; without names, of the workspace's defaults. */
    readonly matchers: (
      workspace: string,
      names: ReadonlyArray<string> | undefined
    ) => Effect.Effect<Matchers, NoSuchLexicon | BusError>
  }
>()("starling/speech-api/Lexicons") {
  static readonly layer = Layer.effect(
    Lexicons,
    Effect.gen(function* () {
      const { SpeechApi } = yield* Configuration
      const bucket = yield* (yield* Kv).open("lexicons", LexiconRecord)
      const lexiconsMax = SpeechApi.LexiconsPerWorkspace
      const lexicons = records(bucket)
      const known = knownWorkspaces()
      const follow = Effect.gen(function* () {
        known.follow(true)
        yield* Stream.runForEach(bucket.changes, ({ key }) => Effect.sync(() => known.changed(key)))
        return yield* Effect.fail("the bucket is no longer followed")
      }).pipe(Effect.ensuring(Effect.sync(() => known.follow(false))))
      yield* Effect.forkScoped(supervise("lexicons", follow))

      const entriesOf = (workspace: string) => Stream.runCollect(bucket.scan(`${encodeToken(workspace)}.>`))
      const load = Effect.fn("Lexicons.load")(function* (workspace: string) {
        const found = known.find(workspace)
        if (found !== undefined) return found
        const keep = known.reading(workspace)
        const entries = yield* entriesOf(workspace)
        return keep(entries.flatMap(({ value }) => Option.toArray(storedOf(value))))
      })
      const put = Effect.fn("Lexicons.put")(function* (given: Omit<LexiconRecord, "updatedAt">, lexicon: Lexicon) {
        const key = keyOf(given)
        const record: LexiconRecord = { ...given, updatedAt: isoTime(yield* Clock.currentTimeMillis) }
        const { answer: isFirst, revision } = yield* lexicons.change(key, (before) =>
          Result.succeed({ answer: before === undefined, next: record })
        )
        if (!isFirst || othersBefore(yield* entriesOf(given.workspace), { key, revision }) < lexiconsMax) {
          return { ...record, lexicon }
        }
        yield* bucket.erase(key, revision)
        return yield* new TooManyLexicons({ lexiconsMax })
      })
      const remove = Effect.fn("Lexicons.remove")(function* (address: Address) {
        const removed = yield* lexicons.change(keyOf(address), (before) => deleted(before !== undefined, "erase"))
        return removed.answer
      })
      // The answer to a change comes after it: the caller's next request uses the change, on this process at once.
      const changing = <A, E>(address: Address, change: Effect.Effect<A, E>) =>
        Effect.ensuring(
          change,
          Effect.sync(() => known.changed(keyOf(address)))
        )
      return Lexicons.of({
        list: (workspace) => Effect.map(load(workspace), ({ lexicons }) => lexicons),
        put: (record, lexicon) => changing(record, put(record, lexicon)),
        remove: (address) => changing(address, remove(address)),
        matchers: (workspace, names) =>
          Effect.flatMap(load(workspace), (loaded) => Effect.fromResult(matchersOf(loaded, names)))
      })
    })
  )
}

const keyOf = ({ workspace, name }: Address) => `${encodeToken(workspace)}.${encodeToken(name)}`

/** Nothing for content that an older release accepted and this one does not. */
const storedOf = (record: LexiconRecord): Option.Option<StoredLexicon> =>
  Option.map(Result.getSuccess(readLexicon(record.content)), (lexicon) => ({ ...record, lexicon }))

/** If two are created at once, the first gets the last free place: its record has the lower revision. */
const othersBefore = (
  entries: ReadonlyArray<KvEntry<LexiconRecord>>,
  own: { readonly key: string; readonly revision: number }
) => entries.filter(({ key, revision }) => key !== own.key && revision < own.revision).length

interface Loaded {
  /** By name. */
  readonly lexicons: ReadonlyArray<StoredLexicon>
  readonly characters: number
  /** By the names in a request. */
  readonly selections: Map<string, Matchers>
}

const selectionsMax = 32

/** Pure, except for its cache. */
export const matchersOf = (
  { lexicons, selections }: Pick<Loaded, "lexicons" | "selections">,
  names: ReadonlyArray<string> | undefined
): Result.Result<Matchers, NoSuchLexicon> => {
  const key = names?.join(",") ?? "*"
  const known = selections.get(key)
  if (known !== undefined) return Result.succeed(known)
  const byName = new Map(lexicons.map((one) => [one.name, one]))
  const lacking = names?.find((name) => !byName.has(name))
  if (lacking !== undefined) return Result.fail(new NoSuchLexicon({ name: lacking }))
  const chosen = names?.flatMap((name) => byName.get(name) ?? []) ?? lexicons.filter(({ isDefault }) => isDefault)
  const byLanguage = Map.groupBy(chosen, ({ lexicon }) => lexicon.language?.split("-")[0]?.toLowerCase())
  const matchers = Array.from(byLanguage, ([language, group]) =>
    matcherOf(
      group.flatMap(({ lexicon }) =>
        lexicon.lexemes.map((lexeme): Lexeme => (language === undefined ? lexeme : { ...lexeme, language }))
      )
    )
  )
  if (selections.size >= selectionsMax) selections.clear()
  selections.set(key, matchers)
  return Result.succeed(matchers)
}

/** Some 100 MB when read; a workspace has a tenth of it at most. */
const charactersMax = 16_000_000
// For a workspace without lexicons, as most are.
const charactersOfNone = 1_000

/** What is cached of workspaces, while changes are followed. No IO. */
export const knownWorkspaces = () => {
  // In order of use, the least recent first.
  const workspaces = new Map<string, Loaded>()
  let characters = 0
  let changes = 0
  let isFollowed = false
  const forget = (key: string) => {
    characters -= workspaces.get(key)?.characters ?? 0
    workspaces.delete(key)
  }
  return {
    follow: (is: boolean) => {
      isFollowed = is
      changes += 1
      for (const key of workspaces.keys()) forget(key)
    },
    changed: (key: string) => {
      changes += 1
      forget(key.split(".")[0] ?? "")
    },
    find: (workspace: string): Loaded | undefined => {
      const key = encodeToken(workspace)
      const found = workspaces.get(key)
      if (found === undefined) return undefined
      workspaces.delete(key)
      workspaces.set(key, found)
      return found
    },
    /** Starts to read a workspace; the result is kept if nothing changed meanwhile. */
    reading: (workspace: string) => {
      const begunAt = changes
      return (lexicons: ReadonlyArray<StoredLexicon>): Loaded => {
        const loaded: Loaded = {
          lexicons: lexicons.toSorted((left, right) => (left.name < right.name ? -1 : 1)),
          characters: lexicons.reduce((sum, { content }) => sum + content.length, charactersOfNone),
          selections: new Map()
        }
        if (!isFollowed || changes !== begunAt) return loaded
        const key = encodeToken(workspace)
        forget(key)
        workspaces.set(key, loaded)
        characters += loaded.characters
        for (const oldest of workspaces.keys()) {
          if (characters <= charactersMax) break
          forget(oldest)
        }
        return loaded
      }
    }
  }
}
