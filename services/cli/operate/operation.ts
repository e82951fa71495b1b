/**
 * Operators' commands: each calls one endpoint of the console, whose schemas give the arguments and flags, and whose
 * answer is printed as a table, a sentence, or field by field. A command that does more has a body of its own.
 */
import { Clock, Effect, type Layer } from "effect"
import { Command, type Flag } from "effect/cli"
import { misused, note, setting } from "../console.ts"
import { json, url } from "../flags.ts"
import { type Fields, printAct, printList, printObject } from "../answers.ts"
import { type Client, onConsole } from "./client.ts"
import {
  type AnswerOf,
  argumentsOf,
  columnsText,
  type EndpointName,
  fieldsOf,
  flagsOf,
  type ParamsOf
} from "./endpoint-flags.ts"

/** An entry of a page, otherwise the entire answer. */
type Shown<Answer> = Answer extends { readonly items: ReadonlyArray<infer Item> } ? Item : Answer

interface Operation<Params, Answer> {
  /** What the command does. */
  readonly about: string
  readonly examples?: ReadonlyArray<string>
  /** Flags that replace derived ones, by their field. */
  readonly flags?: Readonly<Record<string, Flag.Flag<unknown>>>
  /** What people see instead of an entry or the entire answer. */
  readonly shown?: (shown: Shown<Answer>, nowMs: number) => object
  /** For a list: its headings, and the field of each. */
  readonly columns?: Readonly<Record<string, string>>
  /** For a list: fields not truncated to a cell's width. */
  readonly whole?: ReadonlyArray<string>
  /** For a list: the note to people below it. */
  readonly note?: (items: ReadonlyArray<Shown<Answer>>) => string | undefined
  /** For an action: what was done. */
  readonly text?: (params: Params, answer: Answer) => string
}

type Call = (request: Readonly<Record<string, unknown>>) => Effect.Effect<unknown, unknown>

/** A command that calls one endpoint. */
export const operation = <const Name extends EndpointName>(
  command: string,
  name: Name,
  row: Operation<ParamsOf<Name>, AnswerOf<Name>>
) => {
  const { params, query, body } = fieldsOf(name)
  const flags: Command.Command.Config = { ...argumentsOf(params), ...flagsOf(name), ...row.flags, json }
  const columns = row.columns === undefined ? undefined : columnsText(name, row.columns)
  return consoleCommand(command, { ...row, columns, flags }, (client, given) =>
    Effect.gen(function* () {
      const path = only(given, params)
      const request = { params: path, query: only(given, query), payload: only(given, body) }
      const answer = yield* (client[name] as unknown as Call)(request)
      yield* printAnswer(row as Operation<unknown, unknown>, { path, answer, json: given["json"] === true })
    })
  )
}

/** The given values among these fields. */
const only = (given: Fields, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== undefined && name in fields))

interface Answered {
  readonly path: Fields
  readonly answer: unknown
  readonly json: boolean
}

const printAnswer = Effect.fnUntraced(function* (row: Operation<unknown, unknown>, { path, answer, json }: Answered) {
  const { shown: forPeople, columns, whole = [], text } = row
  if (text !== undefined) {
    return yield* printAct((answer ?? numbered(path)) as Fields, { json, text: text(path, answer) })
  }
  const nowMs = yield* Clock.currentTimeMillis
  const shown = (each: unknown) => (json || forPeople === undefined ? each : forPeople(each, nowMs)) as Fields
  if (columns === undefined) return yield* printObject(shown(answer), json)
  const { items, nextCursor } = answer as Page
  yield* printList({ items: items.map(shown), nextCursor }, { json, columns, whole })
  const remark = json ? undefined : row.note?.(items)
  if (remark !== undefined) yield* note(remark)
})

interface Page {
  readonly items: ReadonlyArray<unknown>
  readonly nextCursor: string | null
}

/**
 * The object of an action, if the console returns no more. A position in a stream is a number, as in its other answers.
 */
const numbered = ({ sequence, ...path }: Fields): Fields =>
  sequence === undefined ? path : { sequence: Number(sequence), ...path }

interface ConsoleCommand<Flags extends Command.Command.Config> {
  readonly about: string
  /** Only in the command's own help. */
  readonly columns?: string | undefined
  readonly examples?: ReadonlyArray<string>
  readonly flags: Flags
  /** Why calling the console is pointless; undefined if it is not. */
  readonly misuse?: (given: Command.Command.Config.InferValue<Flags>) => string | undefined
}

type Body<Flags extends Command.Command.Config, E> = (
  client: Client,
  given: Command.Command.Config.InferValue<Flags>
) => Effect.Effect<void, E, Layer.Success<typeof setting>>

/** A command with a body of its own. */
export const consoleCommand = <const Name extends string, const Flags extends Command.Command.Config, E>(
  name: Name,
  { about, columns, examples = [], flags, misuse }: ConsoleCommand<Flags>,
  body: Body<Flags, E>
) =>
  Command.make(name, { given: flags, url }, ({ given, url }) => {
    const wrong = misuse?.(given)
    if (wrong !== undefined) return Effect.fail(misused(wrong))
    return Effect.provide(
      onConsole({ url }, (client) => body(client, given)),
      setting
    )
  }).pipe(
    Command.withShortDescription(about),
    Command.withDescription(columns === undefined ? about : `${about}\n\n${columns}`),
    withExamples(examples)
  )

const withExamples = (commands: ReadonlyArray<string>) => Command.withExamples(commands.map((command) => ({ command })))

interface Family {
  readonly about: string
  readonly examples: ReadonlyArray<string>
  readonly commands: ReadonlyArray<Command.Command.Any>
}

/** The commands on one kind of thing. */
export const family = (name: string, { about, examples, commands }: Family) =>
  Command.make(name).pipe(Command.withDescription(about), withExamples(examples), Command.withSubcommands(commands))
