import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { guardedConnector } from "../../../libs/egress/connector.ts"
import { AddressRefused } from "../../../libs/egress/errors.ts"
import type { AddressGuard } from "../../../libs/egress/guard.ts"
import { listen } from "../../support/receivers.ts"

/** What a connection to a name ends with, by a guard that judges each address anew. */
const connecting = Effect.fnUntraced(function* (judge: AddressGuard["judge"]) {
  const server = yield* listen(
    createServer((socket) => void socket.on("error", () => undefined).resume()),
    "127.0.0.1"
  )
  const refused: Array<string> = []
  const connect = guardedConnector({
    guard: { judge },
    resolve: (_host, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
    connectTimeoutMs: 5_000,
    onOpened: () => undefined,
    onRefused: (range) => refused.push(range)
  })
  const target = {
    hostname: "receiver.example",
    host: "receiver.example",
    protocol: "http:",
    port: String(server.port)
  }
  const error = yield* Effect.callback<Error | null>((resume) => {
    connect(target, (failure, socket) => {
      socket?.destroy()
      resume(Effect.succeed(failure))
    })
  })
  return { error, refused, connections: server.connections() }
})

describe("a connection to a name", () => {
  it.live("is closed unused when its socket has another address than the one that was allowed", () =>
    Effect.gen(function* () {
      let judged = 0
      const { error, refused } = yield* connecting((address) => {
        judged += 1
        return judged === 1 ? { _tag: "Allowed" } : { _tag: "Refused", range: "loopback", cidr: `${address}/32` }
      })
      assert.instanceOf(error, AddressRefused)
      assert.deepStrictEqual(refused, ["loopback"])
      assert.strictEqual(judged, 2)
    })
  )

  it.live("is not begun when none of its addresses is allowed", () =>
    Effect.gen(function* () {
      const { error, connections } = yield* connecting(() => ({
        _tag: "Refused",
        range: "loopback",
        cidr: "127.0.0.0/8"
      }))
      assert.instanceOf(error, AddressRefused)
      assert.strictEqual(connections, 0)
    })
  )

  it.live("is made when its address is allowed each time", () =>
    Effect.gen(function* () {
      const { error, connections } = yield* connecting(() => ({ _tag: "Allowed" }))
      assert.isNull(error)
      assert.strictEqual(connections, 1)
    })
  )
})
