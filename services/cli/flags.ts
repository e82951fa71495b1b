/**
 * Common parts of commands: flags in their few shapes, and how a command gets its body. Its code is loaded when it
 * runs, so that help, completions and other commands need not wait for it.
 */
import { Argument, Flag } from "effect/cli"
import * as Option from "effect/Option"
import * as Effect from "effect/Effect"
import type { Forbidden } from "#bus"
import type { CommandRefused } from "./console.ts"

/** A flag without a value, so the next word is never consumed. */
export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(
    Flag.withOptionalValue("true"),
    Flag.withoutNegation,
    Flag.withDescription(description),
    Flag.withDefault(false)
  )

/** A text; undefined if not given. */
export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), orUndefined)

/** A repeatable text. */
export const texts = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.atLeast(0))

/** A file, which shells complete: a path relative to the user's own folder, or `-`. */
export const file = (name: string, description: string) =>
  Flag.File(name).pipe(Flag.withMetavar("FILE"), Flag.withDescription(description), orUndefined)

/** One of a few words; undefined if not given. */
export const choice = <const Words extends ReadonlyArray<string>>(name: string, words: Words, description: string) =>
  Flag.Literals(name, words).pipe(Flag.withDescription(description), orUndefined)

/** A whole number within bounds. */
export const wholeNumber = (
  name: string,
  { min, max, description }: { readonly min: number; readonly max: number; readonly description: string }
) => {
  const within = (given: string) => {
    const value = given.trim() === "" ? Number.NaN : Number(given)
    return Number.isInteger(value) && value >= min && value <= max ? Option.some(value) : Option.none()
  }
  return Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.withDescription(description),
    Flag.filterMap(within, () => `a whole number from ${min} to ${max}`)
  )
}

/** A number within bounds; undefined if not given. */
export const decimal = (
  name: string,
  { min, max, description }: { readonly min: number; readonly max: number; readonly description: string }
) => {
  const within = (given: string) => {
    const value = given.trim() === "" ? Number.NaN : Number(given)
    return value >= min && value <= max ? Option.some(value) : Option.none()
  }
  return Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.withDescription(description),
    Flag.filterMap(within, () => `a number from ${min} to ${max}`),
    orUndefined
  )
}

export const orUndefined = <A>(flag: Flag.Flag<A>) => flag.pipe(Flag.optional, Flag.map(Option.getOrUndefined))

export const json = toggle("json", "print JSON, for programs")

export const nats = text("nats", "URL", "the broker's address (NATS_URL or BUS_URL, else this home's fleet)")

export const word = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))

const isForCompletions = process.argv.some((word) => word.startsWith("--completions"))
// Loaded for the shell's script alone: the catalogue costs every other command its start.
const eventNames = isForCompletions ? (await import("#base")).eventCatalogue.map((event) => event.name) : []

/** Stands in a completion script for the names of endpoints until `completions.ts` replaces it. */
export const endpointMark = "@endpoint"

/** A word of which shells complete those that are known; others are taken too. */
const wordNear = (known: ReadonlyArray<string>) => (name: string, description: string) =>
  isForCompletions
    ? Argument.Literals(name, known).pipe(Argument.withDescription(description))
    : word(name, description)

export const eventName = wordNear(eventNames)
export const endpointName = wordNear([endpointMark])

/** The same for the text of a flag. */
const textNear = (known: ReadonlyArray<string>) => (name: string, description: string) =>
  isForCompletions ? choice(name, known, description) : text(name, "NAME", description)

export const eventFlag = textNear(eventNames)
export const endpointFlag = textNear([endpointMark])

export const optional = (argument: Argument.Argument<string>) =>
  argument.pipe(Argument.optional, Argument.map(Option.getOrUndefined))

export const eventPatterns = (name: string, description: string) => Argument.variadic(eventName(name, description))

export const words = (name: string, description: string) => Argument.variadic(word(name, description))

export const url = text(
  "url",
  "URL",
  "the console's address, with a token in STARLING_TOKEN (STARLING_CONSOLE, else this home's fleet)"
)
export const limit = wholeNumber("limit", { min: 1, max: 200, description: "at most this many (50)" }).pipe(
  Flag.withDefault(50)
)
export const cursor = text("cursor", "CURSOR", "continue a list: its last line shows the value")
/** What every list takes. */
export const ofList = { limit, cursor, json }

/** A moment of the console's APIs. */
export const time = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription(description),
    Flag.filterMap(
      (given) => (timePattern.test(given) && !Number.isNaN(Date.parse(given)) ? Option.some(given) : Option.none()),
      () => "a time such as 2026-11-20T12:00:00Z"
    ),
    orUndefined
  )

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/u

export const since = time("since", "from this time on, such as 2026-11-20T12:00:00Z")
export const until = time("until", "up to this time")
export const reason = Flag.String("reason").pipe(
  Flag.withMetavar("TEXT"),
  Flag.withDescription("why, for the audit log"),
  Flag.withDefault("by an operator")
)
export const dryRun = toggle("dry-run", "only count them")
export const resendKey = text("key", "KEY", "a key of your own: repeated with it, the command sends nothing twice")
export const number = word("number", "its number in the list")

/** Runs the body with the environment of this process, and with readable logs beside the output. */
export const running = <Body, E>(
  load: () => Promise<Body>,
  run: (body: Body) => Effect.Effect<void, E>
): Effect.Effect<void, E | CommandRefused> =>
  Effect.gen(function* () {
    const [body, { setting }] = yield* Effect.promise(() => Promise.all([load(), import("./console.ts")]))
    yield* run(body).pipe(
      Effect.catch((error) => explained(error)),
      Effect.provide(setting)
    )
  })

/** Explains a missing permission in the words of the topology; other errors pass unchanged. */
const explained = <E>(error: E): Effect.Effect<never, E | CommandRefused> => {
  // Recognized by its shape: a command without a broker loads none of the broker's code.
  const isForbidden = error instanceof Error && "forbidden" in error && error.forbidden !== undefined
  if (!isForbidden) return Effect.fail(error)
  return Effect.gen(function* () {
    const load = () => Promise.all([import("./connection.ts"), import("./console.ts")])
    const [{ forbiddenText }, { CommandRefused }] = yield* Effect.promise(load)
    return yield* new CommandRefused({ reason: forbiddenText(error.forbidden as Forbidden) })
  })
}

export const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** For a program that runs until stopped: it handles signals and the end of the process itself. */
export const becoming = <Body>(load: () => Promise<Body>, run: (body: Body) => void): Effect.Effect<never> =>
  Effect.gen(function* () {
    const body = yield* Effect.promise(load)
    for (const signal of signals) process.removeAllListeners(signal)
    run(body)
    return yield* Effect.never
  })
