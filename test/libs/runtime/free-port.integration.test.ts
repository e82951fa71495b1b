import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { freePort } from "#runtime"

const taken = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

describe("a free port", () => {
  it.live("is the wanted one when that is free, else a higher one", () =>
    Effect.gen(function* () {
      const any = Option.getOrThrow(yield* freePort(0))
      assert.deepStrictEqual(yield* freePort(any), Option.some(any))
      const { port } = yield* taken
      assert.isAbove(Option.getOrThrow(yield* freePort(port)), port)
    })
  )

  it.live("does not exist beyond the last number", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* freePort(65_536), Option.none())
    })
  )
})
