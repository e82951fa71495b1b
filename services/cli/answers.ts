/** Answers as commands print them: tables and lines for people, one JSON object per line for programs. */
import { Effect } from "effect"
import { printableLine } from "#base/printable"
import { misused, noneListed, note, print, table } from "./console.ts"

export type Fields = Readonly<Record<string, unknown>>

interface Listed {
  readonly items: ReadonlyArray<Fields>
  readonly nextCursor: string | null
}

interface ListOptions {
  readonly json: boolean
  /** The headings, and the field of each. */
  readonly columns: Readonly<Record<string, string>>
  /** Fields not truncated to a cell's width: another command takes them unchanged. */
  readonly whole?: ReadonlyArray<string>
}

/** With a hint on standard error if there is more. */
export const printList = ({ items, nextCursor }: Listed, { json, columns, whole = [] }: ListOptions) =>
  Effect.gen(function* () {
    const rows = items.map((item) => Object.values(columns).map((field) => cell(item[field], whole.includes(field))))
    const lines = json ? items.map((item) => JSON.stringify(item)) : table(Object.keys(columns), rows)
    yield* Effect.forEach(lines, print, { discard: true })
    if (items.length === 0 && nextCursor === null && !json) yield* noneListed
    if (nextCursor !== null) yield* note(`there is more: --cursor ${nextCursor}`)
  })

/** The flags of a list. */
export interface Page {
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

interface WholeList<A> extends Omit<ListOptions, "json"> {
  readonly keyOf: (item: A) => string
  readonly forPrograms: (item: A) => Fields
  readonly forPeople: (item: A) => Fields
}

/** A page of a list that is read whole: its cursor is the key of the last entry of the page before. */
export const printPage = <A>(
  all: ReadonlyArray<A>,
  { limit, cursor, json }: Page,
  { keyOf, forPrograms, forPeople, ...options }: WholeList<A>
) =>
  Effect.gen(function* () {
    const from = cursor === undefined ? 0 : all.findIndex((item) => keyOf(item) === cursor) + 1
    if (cursor !== undefined && from === 0)
      return yield* misused(`--cursor ${cursor}? it is in the last line of a list`)
    const page = all.slice(from, from + limit)
    const last = page.at(-1)
    const nextCursor = from + limit < all.length && last !== undefined ? keyOf(last) : null
    yield* printList({ items: page.map(json ? forPrograms : forPeople), nextCursor }, { ...options, json })
  })

/** A table for people without further pages. */
export const printTable = (
  columns: Readonly<Record<string, string>>,
  items: ReadonlyArray<Fields>,
  whole: ReadonlyArray<string> = []
) => printList({ items, nextCursor: null }, { json: false, columns, whole })

const cellCharactersMax = 80

const cell = (value: unknown, isWhole: boolean): string => {
  const text =
    value === null || value === undefined ? "-" : typeof value === "object" ? JSON.stringify(value) : String(value)
  const line = text.replaceAll(/\s+/gu, " ")
  return isWhole ? line : line.slice(0, cellCharactersMax)
}

/** The result of an action: a line for people, the console's answer for programs. */
export const printAct = (answer: Fields, { json, text }: { readonly json: boolean; readonly text: string }) =>
  print(json ? JSON.stringify(answer) : text)

/** One complete item: one field per line. */
export const printObject = (whole: Fields, json: boolean) =>
  Effect.forEach(json ? [JSON.stringify(whole)] : linesOf(whole), print, { discard: true })

/** Fields as lines; nested fields and lists are indented. Pure. */
export const linesOf = (fields: Fields, indent = ""): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, value]) => {
    if (Array.isArray(value) && value.some((entry) => typeof entry === "object")) {
      return [
        `${indent}${printableLine(name)}:`,
        ...value.flatMap((entry) => [`${indent}  -`, ...linesOf(entry as Fields, `${indent}    `)])
      ]
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return [`${indent}${printableLine(name)}:`, ...linesOf(value as Fields, `${indent}  `)]
    }
    const text = value === null ? "-" : Array.isArray(value) ? value.join(", ") : String(value)
    // Lines of a value follow a bar: a receiver's answer cannot look like one of our fields.
    return [`${indent}${printableLine(name)}: ${text.split(/\r?\n/u).join(`\n${indent}  | `)}`]
  })
