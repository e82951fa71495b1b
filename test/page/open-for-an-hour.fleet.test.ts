import { jetstream } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import type { Browser, CDPSession, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { connectionTo } from "../../dev/fixtures/bus-address.ts"
import { type Home, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { publishMany } from "../../load-tests/webhooks/publisher.ts"
import { hasBrowser, openBrowser, signedIn } from "../support/page.ts"

/** Twelve rounds an hour, each with what five busy minutes bring: ten events a second, and each screen once. */
const rounds = 12 * Number(process.env["STARLING_OPEN_HOURS"] ?? 1)
const eventsPerRound = 3_000
const screens = [
  "/",
  "/endpoints",
  "/endpoints/add",
  "/deliveries",
  "/deliveries/abandoned",
  "/work-items",
  "/models",
  "/activity",
  "/activity/sums",
  "/speech",
  "/speech/voices",
  "/fleet",
  "/fleet/streams",
  "/settings",
  "/settings/acts"
]
/** Timers run so many times as fast: a second counts as a minute. */
const hastened = 60
/** Each frame of the fleet, which sends one a second, comes so often. */
const framesOfOne = 120

/** What is loaded and compiled once is there after these. */
const warmUpRounds = 4
/** Of the heap; what React and the browser keep for the next time comes and goes. */
const heapBytesMore = 1_000_000
const nodesMore = 200
const listenersMore = 20

const script = `
  window.count = { polls: 0, frames: 0, ticks: 0 }
  const setIntervalPlainly = window.setInterval
  window.setInterval = (act, everyMs, ...rest) =>
    setIntervalPlainly(() => { window.count.ticks += 1; act(...rest) }, everyMs / ${hastened})
  const fetchPlainly = window.fetch
  window.fetch = (...call) => { window.count.polls += 1; return fetchPlainly(...call) }
  const listen = EventSource.prototype.addEventListener
  EventSource.prototype.addEventListener = function (type, hear) {
    const times = type === "message" && this.url.endsWith("/fleet/live") ? ${framesOfOne} : 1
    listen.call(this, type, (event) => {
      for (let time = 0; time < times; time += 1) {
        if (times > 1) window.count.frames += 1
        hear(event)
      }
    })
  }
`

interface Held {
  readonly heapBytes: number
  readonly nodes: number
  readonly listeners: number
}

describe.skipIf(!hasBrowser)("the page after an hour", () => {
  let home: Home
  let fleet: RunningFleet
  let browser: Browser
  let publisher: NatsConnection
  beforeAll(async () => {
    home = newHome({ FLEET_ROLES: '["console","pipeline-api","speech-api","speech-synthesizer","model-gateway"]' })
    fleet = await startFleet(home)
    browser = await openBrowser()
    publisher = await connect(connectionTo(fleet.busAs("operator")))
  })
  afterAll(async () => {
    await publisher?.close()
    await browser?.close()
    await fleet?.stop("SIGTERM")
    home?.remove()
  })

  const heldBy = async (session: CDPSession): Promise<Held> => {
    // The first collection frees what finalizers of the second need.
    for (let time = 0; time < 3; time += 1) await session.send("HeapProfiler.collectGarbage")
    const { metrics } = await session.send("Performance.getMetrics")
    const value = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0
    return { heapBytes: value("JSHeapUsedSize"), nodes: value("Nodes"), listeners: value("JSEventListeners") }
  }

  let published = 0
  /** Five minutes: the events while the list is open, one of them looked at, and then every screen. */
  const spendFiveMinutes = async (page: Page) => {
    const go = async (screen: string) => {
      await page.evaluate(`location.hash = ${JSON.stringify(`#${screen}`)}`)
      await page
        .getByText(/^Loading/u)
        .first()
        .waitFor({ state: "detached" })
    }
    await go("/events")
    await page.locator(".badge", { hasText: "Live" }).waitFor()
    await publishMany(jetstream(publisher), eventsPerRound, published)
    published += eventsPerRound
    await page.locator(`table.events a[href="#/events/${published}"]`).waitFor()
    await page.getByRole("button", { name: "Pause" }).click()
    await page.locator("table.events tbody tr").first().getByRole("link").first().click()
    await page.getByRole("dialog").getByText("Envelope").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Resume" }).click()
    for (const screen of screens) await go(screen)
    const { frames } = await countsOf(page)
    await go("/fleet")
    // What the fleet sends in four minutes.
    await until(() => countsOf(page), { is: (seen) => seen.frames >= frames + 240 })
    await go("/")
    await page.getByRole("button", { name: "Publish it" }).waitFor()
  }
  const countsOf = (page: Page): Promise<Readonly<Record<"polls" | "frames" | "ticks", number>>> =>
    page.evaluate("window.count")

  it("holds no more than after a third of it", { timeout: rounds * 30_000 }, async () => {
    const { page, complaints } = await signedIn(browser, fleet, { script })
    const session = await page.context().newCDPSession(page)
    await session.send("Performance.enable")
    const held: Array<Held> = []
    for (let round = 0; round < rounds; round += 1) {
      await spendFiveMinutes(page)
      held.push(await heldBy(session))
    }
    console.info(`${published} events, ${JSON.stringify(await countsOf(page))}, ${rounds * screens.length} screens`)
    console.info(held.map(({ heapBytes, ...rest }) => JSON.stringify({ heapMB: heapBytes / 1e6, ...rest })).join("\n"))

    const early = leastOf(held.slice(warmUpRounds, 2 * warmUpRounds))
    const late = leastOf(held.slice(-warmUpRounds))
    assert.isAtMost(late.heapBytes, early.heapBytes + heapBytesMore)
    assert.isAtMost(late.nodes, early.nodes + nodesMore)
    assert.isAtMost(late.listeners, early.listeners + listenersMore)
    assert.deepStrictEqual(complaints(), [])
  })
})

/** What is held for good: the rest of a round is on its way out. */
const leastOf = (held: ReadonlyArray<Held>): Held => ({
  heapBytes: Math.min(...held.map(({ heapBytes }) => heapBytes)),
  nodes: Math.min(...held.map(({ nodes }) => nodes)),
  listeners: Math.min(...held.map(({ listeners }) => listeners))
})
