import { globSync, readFileSync } from "node:fs"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Health, Metrics, MetricsSources, OpsServer } from "#runtime"

const standing = OpsServer.layer({ host: "127.0.0.1", port: 0 }).pipe(
  Layer.provide(Layer.mergeAll(Health.layer, Metrics.layerTest, MetricsSources.layer))
)

/** The whole answer to these bytes, until the server closes. */
const answerTo = Effect.fnUntraced(function* (bytes: string) {
  const { hostname, port } = new URL((yield* OpsServer).url)
  return yield* Effect.callback<string>((resume) => {
    let text = ""
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes))
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")))
    socket.on("error", () => undefined)
    socket.once("close", () => resume(Effect.succeed(text)))
    return Effect.sync(() => socket.destroy())
  })
})

describe("the operators' endpoints of a process", () => {
  it.live.each([
    ["HTTP/1.1\r\nhost: a", "200"],
    ["HTTP/1.0\r\naccept: */*", "200"],
    ["HTTP/1.1\r\naccept: */*", "400"],
    ["HTTP/1.1\r\nhost: a\r\nhost: b", "400"],
    ["HTTP/1.1\r\nhost: a\r\nauthorization: a\r\nauthorization: b", "400"]
  ])("answer the head %j with %s", ([head, status]) =>
    Effect.gen(function* () {
      const text = yield* answerTo(`GET /livez ${head}\r\nconnection: close\r\n\r\n`)
      assert.strictEqual(text.slice(9, 12), status, text)
    }).pipe(Effect.timeout("5 seconds"), Effect.provide(standing))
  )
})

describe("the servers of roles", () => {
  it("are made in two places, which both look at the head of every request", () => {
    const makers = globSync("{libs,services}/**/*.ts").filter((file) => {
      const text = readFileSync(file, "utf8")
      return /import \{[^}]*\bcreateServer\b[^}]*\} from "node:https?"/u.test(text)
    })
    assert.sameMembers(makers, ["libs/http/listener/server.ts", "libs/runtime/OpsServer.ts"])
    for (const file of makers) assert.include(readFileSync(file, "utf8"), "faultOfHead(request)", file)
  })
})
