/**
 * Where a role that runs in a process of its own shows its metrics: a file in the fleet's home, written when the
 * process is ready and again when it was started anew. It outlives a crash of the fleet, so it says whose it is.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option, Schema } from "effect"

const Note = Schema.fromJsonString(Schema.Struct({ role: Schema.String, metrics: Schema.String, fleet: Schema.Int }))
const Holder = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int }))
const Said = Schema.fromJsonString(Schema.Struct({ metrics: Schema.String }))
const decodeNote = Schema.decodeUnknownOption(Note)
const decodeHolder = Schema.decodeUnknownOption(Holder)
const decodeSaid = Schema.decodeUnknownOption(Said)
const encodeNote = Schema.encodeSync(Note)

export interface ProcessNote {
  readonly role: string
  readonly metrics: string
}

const folderOf = (home: string) => join(home, "processes")
const pathOf = (home: string, role: string) => join(folderOf(home), `${role}.json`)

/** `line` is what the process told when it was ready; without an address there is nothing to note. */
export const noteProcess = Effect.fnUntraced(function* (home: string, role: string, line: string) {
  const said = Option.getOrUndefined(decodeSaid(line))
  if (said === undefined) return
  const note = encodeNote({ role, metrics: said.metrics, fleet: process.pid })
  yield* Effect.tryPromise(() =>
    mkdir(folderOf(home), { recursive: true }).then(() => writeFile(pathOf(home, role), `${note}\n`))
  )
})

export const forgetProcess = (home: string, role: string) =>
  Effect.promise(() => rm(pathOf(home, role), { force: true }))

/** Of the fleet that holds the home now. */
export const readNotes = Effect.fnUntraced(function* (home: string) {
  const holder = Option.getOrUndefined(decodeHolder(yield* textOf(join(home, "lock"))))
  const names = yield* Effect.tryPromise(() => readdir(folderOf(home))).pipe(
    Effect.orElseSucceed((): Array<string> => [])
  )
  const texts = yield* Effect.forEach(names, (name) => textOf(join(folderOf(home), name)))
  return texts.flatMap((text): ReadonlyArray<ProcessNote> => {
    const note = Option.getOrUndefined(decodeNote(text))
    return note !== undefined && note.fleet === holder?.pid ? [{ role: note.role, metrics: note.metrics }] : []
  })
})

const textOf = (path: string) => Effect.tryPromise(() => readFile(path, "utf8")).pipe(Effect.orElseSucceed(() => ""))
