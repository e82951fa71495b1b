import { writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { consoleClient } from "#console/api"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let home: Home
let fleet: RunningFleet
let receiver: Server
let status = 500
let redriven: string | undefined
beforeAll(async () => {
  receiver = createServer((request, response) => {
    if (status === 204) redriven = String(request.headers["x-service-redrive-of"])
    request.resume()
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  home = newHome()
  const { port } = receiver.address() as AddressInfo
  const endpoint = { Name: "demo", Url: `http://127.0.0.1:${port}/`, MaxAttempts: 1, CircuitBreaker: false }
  const config = join(home.folder, "starling.config.json")
  writeFileSync(config, JSON.stringify({ Webhooks: [endpoint] }))
  fleet = await startFleet({ ...home, environment: { ...home.environment, STARLING_CONFIG: config } })
})
afterAll(async () => {
  await fleet.stop("SIGTERM")
  receiver.close()
  home.remove()
})

const clientOf = (token: string) => consoleClient({ url: fleet.ready.console, token })
const run = <A, E>(work: Effect.Effect<A, E, HttpClient.HttpClient>) =>
  Effect.runPromise(Effect.provide(work, FetchHttpClient.layer))

describe("the console of a fleet", () => {
  it("shows a delivery that was abandoned, and has it delivered once its receiver is back", async () => {
    const published = await starling(home, "publish", "agent.smoke_failed", "--example")
    assert.strictEqual(published.code, 0, published.error)
    const client = await run(clientOf(fleet.ready.token))
    const listed = () => run(client.listAbandoned({ query: { endpoint: "demo" } }))
    await until(async () => (await listed()).items.length === 1)
    const [given] = (await listed()).items
    assert.include(given, { endpoint: "demo", event: "agent.smoke_failed", lastStatus: 500, attempts: 1 })

    status = 204
    const sequence = String(given?.sequence)
    await run(client.resendAbandoned({ params: { sequence }, payload: { reason: "it is back" } }))
    await until(() => redriven, { is: (seen) => seen !== undefined })
    assert.strictEqual(redriven, given?.deliveryId)
    assert.isEmpty((await listed()).items)
    const { items } = await run(client.listAudit({ query: {} }))
    assert.deepStrictEqual(
      items.map(({ action, reason }) => [action, reason]),
      [["abandoned-resend", "it is back"]]
    )
  })

  it("is reached by commands: tables for people, JSON for programs, and codes for scripts", async () => {
    const ran = async (...words: ReadonlyArray<string>) => {
      const { code, out, error } = await starling(home, ...words)
      return { code, error, lines: out.trimEnd().split("\n") }
    }
    const listed = await ran("deliveries", "list", "--endpoint", "demo", "--outcome", "failed", "--json")
    assert.strictEqual(listed.code, 0, listed.error)
    const line = JSON.parse(listed.lines[0] ?? "") as Readonly<Record<"deliveryId" | "place" | "event", string>> &
      Readonly<Record<"status" | "attempt", number>>
    assert.include(line, { event: "agent.smoke_failed", status: 500, attempt: 1 })
    const shown = await ran("deliveries", "show", line.deliveryId, "--near", line.place)
    assert.strictEqual(shown.code, 0, shown.error)
    assert.isTrue(shown.lines.some((text) => text.includes("X-Service-Delivery")))
    const events = await ran("events", "list", "--event", "agent.*")
    assert.match(events.lines.join("\n"), /^number +stored +event/u)
    const event = await ran("events", "show", "1", "--json")
    assert.include(JSON.parse(event.lines[0] ?? ""), { sequence: 1 })

    const dry = await ran("abandoned", "resend", "--all", "--dry-run")
    assert.deepStrictEqual([dry.code, dry.lines], [0, ["0 deliveries would be sent again"]])
    const again = await ran("deliveries", "resend", line.deliveryId, "--near", line.place, "--reason", "once more")
    assert.match(again.lines[0] ?? "", /^sent again as [\da-f-]{36}$/u)
    assert.strictEqual((await ran("rejected", "list")).code, 0)
    assert.strictEqual((await ran("rejected", "show", "99")).code, 1)
    assert.strictEqual((await ran("abandoned", "resend")).code, 2)
    assert.strictEqual((await ran("rejected", "list", "--limit", "900")).code, 2)
  })

  it("lets a viewer look and refuses its acts", async () => {
    const made = await starling(home, "token", "make", "--role", "viewer")
    const client = await run(clientOf(made.out.trim()))
    assert.isEmpty((await run(client.listRejected({ query: {} }))).items)
    const refused = await run(Effect.flip(client.resendAllAbandoned({ payload: { reason: "may I?" } })))
    assert.nestedPropertyVal(refused, "error.code", "insufficient_scope")
  })
})
