/** How what the console answers is printed: tables and lines for people, a JSON object a line for programs. */
import { Effect } from "effect"
import { note, print, table } from "../console.ts"
import type { OnConsole } from "./client.ts"

/** One thing of a list, by its number there. */
export interface OneOrder extends OnConsole {
  readonly number: string
}

export type Fields = Readonly<Record<string, unknown>>

interface Listed {
  readonly items: ReadonlyArray<Fields>
  readonly nextCursor: string | null
}

interface ListOptions {
  readonly json: boolean
  /** The headings, and the field of each. */
  readonly columns: Readonly<Record<string, string>>
  /** Fields that are not cut to a cell's width: another command takes them as they are. */
  readonly whole?: ReadonlyArray<string>
}

/** With a hint on standard error where there is more. */
export const printList = ({ items, nextCursor }: Listed, { json, columns, whole = [] }: ListOptions) =>
  Effect.gen(function* () {
    const rows = items.map((item) => Object.values(columns).map((field) => cell(item[field], whole.includes(field))))
    const lines = json ? items.map((item) => JSON.stringify(item)) : table(Object.keys(columns), rows)
    yield* Effect.forEach(lines, print, { discard: true })
    if (nextCursor !== null) yield* note(`there is more: --cursor ${nextCursor}`)
  })

const cellCharactersMax = 80

const cell = (value: unknown, isWhole: boolean): string => {
  const text =
    value === null || value === undefined ? "-" : typeof value === "object" ? JSON.stringify(value) : String(value)
  const line = text.replaceAll(/\s+/gu, " ")
  return isWhole ? line : line.slice(0, cellCharactersMax)
}

/** What an act did: a line for people, what the console answered for programs. */
export const printAct = (answer: Fields, { json, text }: { readonly json: boolean; readonly text: string }) =>
  print(json ? JSON.stringify(answer) : text)

/** One thing whole: a field a line. */
export const printWhole = (whole: Fields, json: boolean) =>
  Effect.forEach(json ? [JSON.stringify(whole)] : linesOf(whole), print, { discard: true })

/** Fields as lines; those of fields and of lists stand further in. Pure. */
export const linesOf = (fields: Fields, indent = ""): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, value]) => {
    if (Array.isArray(value) && value.some((entry) => typeof entry === "object")) {
      return [
        `${indent}${name}:`,
        ...value.flatMap((entry) => [`${indent}  -`, ...linesOf(entry as Fields, `${indent}    `)])
      ]
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return [`${indent}${name}:`, ...linesOf(value as Fields, `${indent}  `)]
    }
    return [`${indent}${name}: ${value === null ? "-" : Array.isArray(value) ? value.join(", ") : String(value)}`]
  })

/** Only the given options, for a query. */
export const givenOf = <A extends Fields>(options: A) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    readonly [Key in keyof A]?: Exclude<A[Key], undefined>
  }
