import { createServer, type Server } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { serverNameOn } from "../../../../services/fleet/nats-server/NatsServer.ts"

const listener = (port: number, banner: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ server: Server; port: number }>((resolve) => {
          const server = createServer((socket) => socket.on("error", () => {}).end(banner))
          server.listen(port, "127.0.0.1", () => {
            const address = server.address()
            resolve({ server, port: typeof address === "object" && address !== null ? address.port : 0 })
          })
        })
    ),
    ({ server }) => Effect.sync(() => server.close())
  )

describe("the nats-server on a port", () => {
  it.live("is ours when the server answers with our name, and not with any other answer", () =>
    Effect.gen(function* () {
      const ours = yield* listener(0, 'INFO {"server_name":"starling-1"} \r\n')
      assert.deepStrictEqual(yield* serverNameOn(ours.port), Option.some("starling-1"))
      for (const banner of ["", "INFO {\r\n", "SSH-2.0\r\n", "INFO {}\r\n", "x".repeat(200_000)]) {
        const other = yield* listener(0, banner)
        assert.deepStrictEqual(yield* serverNameOn(other.port), Option.none(), banner.slice(0, 20))
      }
    })
  )
})
