import { writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { Browser, Locator } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { hasBrowser, openBrowser, shoot, signedIn } from "../support/page.ts"
import { watchProcessorShare } from "../support/processor-share.ts"

let home: Home
let fleet: RunningFleet
let receiver: Server
let browser: Browser
let status = 204

const shownWithinMs = 2_000

describe.skipIf(!hasBrowser)("the page of an operator", () => {
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.resume()
      response.writeHead(status).end(status === 204 ? undefined : "the database is away")
    })
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
    home = newHome()
    const { port } = receiver.address() as AddressInfo
    const endpoint = { Name: "demo", Url: `http://127.0.0.1:${port}/`, MaxAttempts: 1, CircuitBreaker: false }
    const config = join(home.folder, "starling.config.json")
    writeFileSync(config, JSON.stringify({ Webhooks: [endpoint] }))
    fleet = await startFleet({ ...home, environment: { ...home.environment, STARLING_CONFIG: config } })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await fleet?.stop("SIGTERM")
    receiver?.close()
    home?.remove()
  })

  const look = async (screen: string, token = fleet.ready.token) => {
    const viewport = { width: 1_440, height: 900 }
    const { page, complaints } = await signedIn(browser, fleet, { token, viewport, reducedMotion: "reduce" })
    await page.goto(`${fleet.ready.console}/#${screen}`)
    return { page, complaints }
  }

  const publish = async (event: string) => {
    const answer = await fetch(`${fleet.ready.console}/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${fleet.ready.token}`, "content-type": "application/json" },
      body: JSON.stringify({ reason: "a story", event })
    })
    return ((await answer.json()) as { readonly sequence: number }).sequence
  }

  it("publishes from home: the row stands in the list within two seconds, and its 204 beside it", async () => {
    const [listed, homely] = [await look("/events"), await look("/")]
    await listed.page.locator(".badge", { hasText: "Live" }).waitFor()
    const share = watchProcessorShare()
    await homely.page.getByRole("button", { name: "Publish it" }).click()
    const beganMs = performance.now()
    await listed.page.getByRole("link", { name: /is merged into main/u }).waitFor()
    const tookMs = performance.now() - beganMs
    assert.isBelow(tookMs, shownWithinMs / (await share.end()))
    await homely.page.getByText("204 delivered").waitFor()
    await listed.page.getByRole("link", { name: /is merged into main/u }).click()
    await listed.page.getByRole("dialog").getByText("204 delivered").waitFor()
    await shoot(listed.page, "event-1440")
    assert.deepStrictEqual([...listed.complaints(), ...homely.complaints()], [])
    await Promise.all([listed.page.close(), homely.page.close()])
  })

  it("shows a delivery that failed, and its success once the receiver is mended and it is sent again", async () => {
    status = 500
    const { page, complaints } = await look("/events/trigger")
    await page.getByLabel("Why").fill("a look at a broken receiver")
    await page.getByRole("button", { name: "Publish", exact: true }).click()
    await page.getByText("500, given up").waitFor()
    await page.getByRole("list", { name: "Deliveries" }).getByRole("link", { name: "demo" }).click()
    await page.getByText("the database is away").waitFor()
    await shoot(page, "delivery-1440")

    status = 204
    await page.getByRole("button", { name: "Send again", exact: true }).click()
    const question = page.getByRole("dialog", { name: "Send it again?" })
    await question.getByLabel("Why").fill("it is mended")
    await question.getByRole("button", { name: "Send again" }).click()
    await page.getByText("Sent again as").getByRole("link").click()
    await page.getByRole("dialog").getByText("204 delivered").waitFor()
    await page.getByText("It answered 204, which is all that is kept of a success").waitFor()
    assert.deepStrictEqual(complaints(), [])
    await page.close()
  })

  it("shows an event that is published after the list was read and before its stream is open", async () => {
    const { page } = await look("/settings")
    let published = 0
    await page.route("**/events/live*", async (route) => {
      if (published === 0) published = await publish("queue.paused")
      await route.continue()
    })
    await page.goto(`${fleet.ready.console}/#/events?event=queue.paused`)
    await page.locator("table.events a.row-link").first().click()
    await page.getByRole("dialog").getByText("Envelope", { exact: true }).waitFor()
    assert.include(page.url(), `/events/${published}?`)
    await page.close()
  })

  it("lets the keyboard alone find an event, open it and come back to its row", async () => {
    const { page } = await look("/events")
    const first = page.locator("table.events a").first()
    await first.waitFor()
    await page.getByRole("button", { name: "Filter", exact: true }).focus()
    for (let steps = 0; steps < 5 && !(await isFocused(first)); steps += 1) await page.keyboard.press("Tab")
    assert.isTrue(await isFocused(first))
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    assert.isTrue(await isFocused(first))
    await page.close()
  })

  it("stays on the screen that a link of a drawer leads to", async () => {
    const { page } = await look("/events/1")
    await page.getByRole("list", { name: "Deliveries" }).getByRole("link", { name: "demo" }).first().click()
    await page.getByRole("dialog").getByText("Body as sent").waitFor()
    assert.match(page.url(), /#\/deliveries\/[\da-f-]{36}/u)
    await page.close()
  })

  it("says so when a screen does not arrive, leaves the way to the others, and shows it after loading again", async () => {
    const { page } = await look("/")
    await page.getByRole("button", { name: "Publish it" }).waitFor()
    await page.route(/\/assets\/Fleet-/u, (route) => route.abort())
    await page.getByRole("link", { name: "Fleet", exact: true }).click()
    await page.getByText("This screen could not be loaded").waitFor()
    await page.getByRole("link", { name: "Home", exact: true }).click()
    await page.getByRole("button", { name: "Publish it" }).waitFor()

    await page.getByRole("link", { name: "Fleet", exact: true }).click()
    await page.getByText("This screen could not be loaded").waitFor()
    await page.unrouteAll()
    await page.getByRole("button", { name: "Load the page again" }).click()
    await page.getByRole("heading", { name: "Processes" }).waitFor()
    await page.close()
  })

  it("shows a viewer what is there, and nothing to act with", async () => {
    const made = await starling(home, "token", "make", "--role", "viewer")
    const { page } = await look("/endpoints/demo", made.out.trim())
    await page.getByRole("dialog").getByText("in service").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Pause" }).count(), 0)
    await page.goto(`${fleet.ready.console}/#/events`)
    await page.getByRole("heading", { name: "Events", exact: true }).waitFor()
    assert.strictEqual(await page.getByRole("button", { name: "Trigger" }).count(), 0)
    await page.close()
  })
})

const isFocused = (element: Locator) =>
  element.evaluate((found: unknown) => {
    const { document } = globalThis as unknown as { readonly document: { readonly activeElement: unknown } }
    return document.activeElement === found
  })
