/** The small shapes that many contracts share. Lengths are UTF-16 units; every regular expression is linear. */
import { Schema } from "effect"
import { faultOfName } from "./printable.ts"

/** One fault of an input, and where: a JSON pointer, empty for the entire input. */
export interface Fault {
  readonly path: string
  readonly message: string
}

export const Fault = Schema.Struct({ path: Schema.String, message: Schema.String })

const isoPattern =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/u

const isRealDay = (text: string) => {
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number)
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0))
  return date.getUTCMonth() + 1 === month && date.getUTCDate() === day
}

/** An ISO-8601 instant with its offset, on a day that exists. */
export const Timestamp = Schema.String.check(
  Schema.isPattern(isoPattern),
  Schema.makeFilter((value) => isRealDay(value) || "a day that does not exist")
).annotate({ identifier: "Timestamp" })

/** A whole number from 0. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** A whole number from 1. */
export const Ordinal = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** An amount of money as the wire shows it: a JSON number of US dollars. */
export const Usd = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

export const Uuid = Schema.String.check(Schema.isUUID())

export const text = (charactersMax: number) => Schema.String.check(Schema.isMaxLength(charactersMax))

/** An id, ours or foreign: any text that is neither empty nor longer than 256 units. */
export const Id = Schema.String.check(Schema.isBetweenLength(1, 256))

/** The last millisecond of the year 9999: the wire writes years with four digits. */
const epochMsMax = 253_402_300_799_999

/** Epoch milliseconds. */
export const EpochMs = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: epochMsMax }))

// Most of the instants written in one millisecond are that same millisecond.
let written = { epochMs: 0, text: new Date(0).toISOString() }

/** Epoch milliseconds as the wire writes an instant. */
export const isoTime = (epochMs: number): string => {
  if (written.epochMs !== epochMs) written = { epochMs, text: new Date(epochMs).toISOString() }
  return written.text
}

/** For a name given by a person and shown by screens, logs and commands: no character that these would obey. */
export const isName = Schema.makeFilter((value: string) => faultOfName(value) ?? true)

/** Adds the purpose of a field to its schema, for the API's description. */
export const describe =
  (description: string) =>
  <S extends Schema.Top>(field: S): S["Rebuild"] =>
    field.annotateKey({ description })

/**
 * The JSON schema shown in documents for a text whose codec accepts more than is valid, so that a refusal can say what
 * is wrong with it.
 */
export const documentedAs =
  (jsonSchema: Readonly<Record<string, unknown>>) =>
  <S extends Schema.Top>(field: S): S["Rebuild"] =>
    field.annotate({ documentedAs: jsonSchema })

/** The longest wait accepted from outside the actors: a year. */
export const waitMsMax = 366 * 24 * 60 * 60 * 1_000
export const WaitMs = Count.check(Schema.isLessThanOrEqualTo(waitMsMax))

/** A byte order mark at the start of a text is not part of it: every reader drops it, and nothing passes it on. */
export const withoutByteOrderMark = (given: string): string => (given.startsWith("\ufeff") ? given.slice(1) : given)
