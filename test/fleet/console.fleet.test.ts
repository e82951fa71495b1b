import { writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { consoleClient } from "#contracts/console"
import { type Home, newHome, type RunningFleet, starling, startFleet, until } from "../../dev/fixtures/starling.ts"

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
  it("shows a delivery that was given up, and has it delivered once its receiver is back", async () => {
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
    await until(() => redriven !== undefined)
    assert.strictEqual(redriven, given?.deliveryId)
    assert.isEmpty((await listed()).items)
    const { items } = await run(client.listAudit({ query: {} }))
    assert.deepStrictEqual(
      items.map(({ action, reason }) => [action, reason]),
      [["abandoned-resend", "it is back"]]
    )
  })

  it("lets a viewer look and refuses its acts", async () => {
    const made = await starling(home, "token", "make", "--role", "viewer")
    const client = await run(clientOf(made.out.trim()))
    assert.isEmpty((await run(client.listRejected({ query: {} }))).items)
    const refused = await run(Effect.flip(client.resendAllAbandoned({ payload: { reason: "may I?" } })))
    assert.nestedPropertyVal(refused, "error.code", "insufficient_scope")
  })
})
