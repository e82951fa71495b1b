import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { hasBrowser, openBrowser, signedIn } from "../support/page.ts"

/** The page asks every five seconds, and waits for one answer that does not come. */
const toldWithinMs = 15_000
/** The broker recovers its streams, the roles connect again, and the page asks every second and a half. */
const wellWithinMs = 30_000

describe.skipIf(!hasBrowser)("the page when the broker is killed", () => {
  let home: Home
  let fleet: RunningFleet
  let receiver: Server
  let browser: Browser
  let received = 0
  const heldBack = () => join(home.folder, "held-back")

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      received += 1
      request.resume()
      response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
    home = newHome({ FLEET_ROLES: '["console","webhook-dispatcher"]' })
    // A large store takes its time to recover: this one takes it for as long as a file is there.
    const slow = join(home.folder, "slow-nats-server")
    const real = process.env["STARLING_NATS_SERVER"] ?? "nats-server"
    writeFileSync(slow, `#!/bin/sh\nwhile [ -e '${heldBack()}' ]; do sleep 0.1; done\nexec '${real}' "$@"\n`)
    chmodSync(slow, 0o700)
    const config = join(home.folder, "starling.config.json")
    const { port } = receiver.address() as AddressInfo
    writeFileSync(config, JSON.stringify({ Webhooks: [{ Name: "demo", Url: `http://127.0.0.1:${port}/` }] }))
    const environment = { ...home.environment, STARLING_CONFIG: config, STARLING_NATS_SERVER: slow }
    fleet = await startFleet({ ...home, environment })
    browser = await openBrowser()
  })
  afterAll(async () => {
    if (home !== undefined) rmSync(heldBack(), { force: true })
    await browser?.close()
    await fleet?.stop("SIGTERM")
    receiver?.close()
    home?.remove()
  })

  const open = async (screen: string) => {
    const { page } = await signedIn(browser, fleet)
    await page.goto(`${fleet.ready.console}/#${screen}`)
    await page.evaluate("window.wasNotReloaded = true")
    return page
  }
  const banner = (page: Page) => page.locator(".banner", { hasText: "The broker is unavailable" })
  const publish = async () => {
    const ran = await starling(home, "publish", "work_item.merged", "--example")
    assert.strictEqual(ran.code, 0, ran.error)
  }
  const linksIn = (page: Page, table: string) =>
    page
      .locator(`${table} tbody a.row-link`)
      .evaluateAll((links) =>
        links.map((link) => (link as unknown as { getAttribute: (name: string) => string }).getAttribute("href"))
      )

  it("says so, and continues with every list by itself when it is back, with nothing twice", async () => {
    const pages = { events: await open("/events"), deliveries: await open("/deliveries"), home: await open("/") }
    const late = await open("/endpoints")
    await publish()
    await pages.events.locator("table.events tbody tr").waitFor()
    await pages.deliveries.getByText("204 delivered").waitFor()

    writeFileSync(heldBack(), "")
    const killedMs = performance.now()
    process.kill(Number(readFileSync(join(home.folder, "nats/server.pid"), "utf8")), "SIGKILL")
    for (const page of Object.values(pages)) await banner(page).waitFor({ timeout: toldWithinMs })
    const toldMs = performance.now() - killedMs

    // Who opens the page now sees where they are, and may go elsewhere.
    await late.reload()
    await banner(late).waitFor()
    await late.getByRole("heading", { level: 1, name: "Endpoints" }).waitFor()
    await late.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Deliveries" }).click()
    await late.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor()

    rmSync(heldBack())
    const backMs = performance.now()
    for (const page of Object.values(pages)) await banner(page).waitFor({ state: "detached", timeout: wellWithinMs })
    const wellMs = performance.now() - backMs
    console.info(`told after ${toldMs.toFixed(0)} ms; well ${wellMs.toFixed(0)} ms after the broker was let back`)

    await publish()
    await pages.events.locator("table.events tbody tr").nth(1).waitFor()
    await pages.deliveries.getByText("204 delivered").nth(1).waitFor()
    await pages.home.getByText("All roles are up").waitFor()
    await late.getByText("204 delivered").first().waitFor()
    await late.context().close()
    // An event whose ack the broker had not yet written down comes again, and each attempt has its row.
    const attempts = async () => (await linksIn(pages.deliveries, ".table-room")).length
    await until(() => attempts(), { is: received })
    assert.oneOf(received, [2, 3])
    for (const [name, table, count] of [
      ["events", "table.events", 2],
      ["deliveries", ".table-room", received]
    ] as const) {
      const links = await linksIn(pages[name], table)
      assert.strictEqual(links.length, count, name)
      assert.strictEqual(new Set(links).size, count, name)
    }
    for (const page of Object.values(pages)) {
      assert.isTrue(await page.evaluate("window.wasNotReloaded"))
      assert.strictEqual(await page.getByRole("alert").count(), 0)
      await page.context().close()
    }
  })
})
