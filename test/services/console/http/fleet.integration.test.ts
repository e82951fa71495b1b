import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpListener, Tokens } from "#http"
import manifest from "../../../../package.json" with { type: "json" }
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { freePort } from "../../../../dev/fixtures/free-port.ts"
import { consoleOn, type Json, tokenOf } from "../../../support/console.ts"
import { endRoles, startRole } from "../../../support/role.ts"

afterAll(endRoles)

const startMs = 60_000

/** A sweeper and a console that is told of it, each a process of its own, on one broker. */
const twoProcesses = Effect.gen(function* () {
  const server = yield* natsServer
  const { token } = yield* Effect.flatMap(Tokens, (tokens) =>
    tokens.make({ workspace: "default", kind: "member", role: "viewer", scopes: ["*"] })
  ).pipe(Effect.provide(Tokens.layer.pipe(Layer.provideMerge(busOn(server)))))
  const port = yield* Effect.promise(freePort)
  const bus = { Bus: { Url: server.url, Topology: "verify" }, Telemetry: { LogLevel: "Error" } }
  const sweeper = yield* Effect.promise(() => startRole("sweeper", { configuration: bus }))
  const configuration = { ...bus, Console: { Port: port, Processes: [sweeper.url] } }
  const operators = yield* Effect.promise(() => startRole("console", { configuration }))
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const frame = Effect.promise(async (): Promise<Json | undefined> => {
    const response = await ask("/fleet").catch(() => undefined)
    return response?.status === 200 ? ((await response.json()) as Json) : undefined
  })
  return { sweeper, operators, ask, frame, api: `http://127.0.0.1:${port}` }
})

const rolesIn = (frame: Json | undefined) =>
  ((frame?.["roles"] ?? []) as ReadonlyArray<Json>).map(({ role, state }) => `${role} ${state}`)

/** The data of server-sent events, as they come. */
const framesIn = async function* (response: Response) {
  let heard = ""
  const decoder = new TextDecoder()
  for await (const part of response.body ?? []) {
    heard += decoder.decode(part, { stream: true })
    const whole = heard.split("\n\n")
    heard = whole.pop() ?? ""
    for (const event of whole) {
      const data = /^data: (.*)$/mu.exec(event)?.[1]
      if (data !== undefined) yield JSON.parse(data) as Json
    }
  }
}

describe("the fleet on the console", () => {
  it.live("is its processes with their roles, releases and readiness, and a process that dies is shown as down", () =>
    Effect.gen(function* () {
      const { sweeper, frame, api } = yield* twoProcesses
      yield* eventually(frame, { is: (shown) => shown?.["isReady"] === true, withinMs: startMs })

      const shown = (yield* frame) ?? {}
      assert.deepStrictEqual(rolesIn(shown), ["sweeper up", "console up"])
      assert.deepInclude(shown, { processCount: 2, processesLeftOut: 0, addresses: { console: api } })
      assert.isAbove(shown["windowSeconds"] as number, 0)
      for (const role of shown["roles"] as ReadonlyArray<Json>) {
        assert.strictEqual(role["version"], manifest.version)
        assert.isAbove(role["residentMb"] as number, 10)
      }
      sweeper.signal("SIGKILL")
      yield* Effect.promise(() => sweeper.ended)
      yield* eventually(frame, { is: (after) => rolesIn(after).includes("sweeper down") })
      assert.strictEqual((yield* frame)?.["isReady"], false)
    }).pipe(Effect.scoped)
  )

  it.live("comes as a frame each second to all who watch, and ends when the process drains", () =>
    Effect.gen(function* () {
      const { operators, frame, ask } = yield* twoProcesses
      yield* eventually(frame, { is: (shown) => shown?.["isReady"] === true, withinMs: startMs })
      let toldAtMs: number | undefined
      const watch = async () => {
        const response = await ask("/fleet/live")
        assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
        const times: Array<number> = []
        for await (const shown of framesIn(response)) {
          times.push(Date.parse(String(shown["at"])))
          // A second signal would end the process at once.
          if (times.length < 3 || toldAtMs !== undefined) continue
          toldAtMs = performance.now()
          operators.signal("SIGTERM")
        }
        return times
      }

      const all = yield* Effect.promise(() => Promise.all([watch(), watch()]))
      assert.strictEqual(yield* Effect.promise(() => operators.ended), 0)

      // A listener would wait 25 s for answers without an end.
      assert.isBelow(performance.now() - (toldAtMs ?? 0), 15_000)
      for (const times of all) {
        assert.isAtLeast(times.length, 2)
        times.slice(1).forEach((at, index) => assert.isAtLeast(at - (times[index] ?? 0), 900))
      }
    }).pipe(Effect.scoped)
  )

  it.live("has a history and a timeline from its first seconds on", () =>
    Effect.gen(function* () {
      const { ask } = yield* twoProcesses
      const read = (path: string) =>
        Effect.promise(async () => {
          const response = await ask(path).catch(() => undefined)
          return response?.status === 200
            ? ((await response.json()) as { readonly items: ReadonlyArray<Json> }).items
            : []
        })
      // The console's own calls: those of this test.
      const [own] = yield* eventually(read("/history?kind=role&id=console&range=hour"), {
        is: ([found]) => ((found?.["calls"] as number | undefined) ?? 0) > 0,
        withinMs: startMs
      })
      const points = own?.["points"] as ReadonlyArray<Json>
      assert.isAbove(points.at(-1)?.["perSecond"] as number, 0)
      assert.strictEqual((yield* Effect.promise(() => ask("/history?kind=pod&range=hour"))).status, 400)

      const happened = yield* eventually(read("/timeline?kind=process"), {
        is: (items) => items.length === 2,
        withinMs: startMs
      })
      assert.sameMembers(
        happened.map(({ what }) => String(what).split(": ")[1]),
        ["sweeper", "console"]
      )
      assert.deepStrictEqual(yield* read("/timeline?kind=act"), [])
    }).pipe(Effect.scoped)
  )

  it.live("is read once a second, however many ask", () =>
    Effect.gen(function* () {
      let readings = 0
      const other = createServer((request, response) => {
        if (request.url?.startsWith("/metrics") === true) readings += 1
        response.end(request.url === "/readyz" ? '{"checks":{}}' : "process_cpu_seconds_total 1\n")
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => void other.close())
      )
      const { port } = other.address() as AddressInfo
      const changes = { Console: { Processes: [`http://127.0.0.1:${port}`] } }
      yield* Effect.gen(function* () {
        const { url } = yield* HttpListener
        const headers = { authorization: `Bearer ${yield* tokenOf("viewer")}` }
        const asked = Effect.promise(async () => (await fetch(`${url}/fleet`, { headers })).status)
        const beganMs = performance.now()

        const statuses = yield* Effect.all(
          Array.from({ length: 40 }, () => asked),
          { concurrency: "unbounded" }
        )

        assert.deepStrictEqual([...new Set(statuses)], [200])
        assert.isAtMost(readings, 2 + Math.ceil((performance.now() - beganMs) / 900))
      }).pipe(Effect.provide(consoleOn(yield* natsServer, changes)))
    }).pipe(Effect.scoped)
  )
})
