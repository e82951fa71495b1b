/** The fleet that runs in this home, by its `ready.json`, and the errors of a call to it. */
import { readFile } from "node:fs/promises"
import { Effect, Schema } from "effect"
import { CommandRefused, noFleet } from "./console.ts"

/** Reads the part of it that a command needs. `otherwise`: the advice when no fleet has run. */
export const readReady = Effect.fnUntraced(function* <A>(
  home: string,
  part: Schema.Codec<A, unknown>,
  otherwise = ""
): Effect.fn.Return<A, CommandRefused> {
  const text = yield* Effect.tryPromise({
    try: () => readFile(`${home}/ready.json`, "utf8"),
    catch: () => noFleet(`no fleet has run in ${home} yet; start it with ./starling up${otherwise}`)
  })
  return yield* Effect.mapError(Schema.decodeEffect(Schema.fromJsonString(part))(text), () =>
    noFleet(`${home}/ready.json cannot be read; start the fleet again with ./starling up`)
  )
})

/** Nothing listens at the address. */
export const isAbsent = (cause: unknown) =>
  cause instanceof Error && cause.cause instanceof Error && "code" in cause.cause && cause.cause.code === "ECONNREFUSED"

export const brokenOff = (cause: unknown) => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const detail = inner instanceof Error ? inner.message : String(inner)
  return new CommandRefused({ reason: `the fleet broke off: ${detail}` })
}

/** An API's message, cut to one line of a terminal. */
export const oneLine = (text: string) => text.replaceAll(/\s+/gu, " ").trim().slice(0, 500)
