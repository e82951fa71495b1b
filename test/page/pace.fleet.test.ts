import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { connectionTo } from "../../dev/fixtures/bus-address.ts"
import { type Home, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { publishAtRate } from "../../load-tests/webhooks/publisher.ts"
import { linesMax } from "../../page/screens/events/feed.ts"
import { measurePace, type Pace, paceMax, paceScript } from "../support/page-pace.ts"
import { hasBrowser, openBrowser, signedIn } from "../support/page.ts"

const eventsPerSecond = 1_000
// What a minute shows, most of a quarter shows too; STARLING_FLOOD_SECONDS=60 takes the whole.
const seconds = Number(process.env["STARLING_FLOOD_SECONDS"] ?? 15)
// Broker, console, publisher and browser share the machine: fewer than these were no flood.
const eventsPerSecondMin = 900
// What somebody notices, on a rested machine. A task is measured on a processor, an answer by the clock.
const noticedMs = 200
const stretchSeconds = 5
const pausesCount = 3

describe.skipIf(!hasBrowser)("the page at a thousand events a second", () => {
  let home: Home
  let fleet: RunningFleet
  let browser: Browser
  let publisher: NatsConnection
  let keeper: NatsConnection
  beforeAll(async () => {
    // Nobody is called: a dispatcher would want the processors for a thousand deliveries a second.
    home = newHome({ FLEET_ROLES: '["console"]' })
    fleet = await startFleet(home)
    browser = await openBrowser()
    publisher = await connect(connectionTo(fleet.busAs("operator")))
    keeper = await connect(connectionTo(fleet.busAs("stream-keeper")))
  })
  afterAll(async () => {
    await publisher?.close()
    await keeper?.close()
    await browser?.close()
    await fleet?.stop("SIGTERM")
    home?.remove()
  })

  const openEvents = async () => {
    const { page, complaints } = await signedIn(browser, fleet, { script: paceScript })
    await page.goto(`${fleet.ready.console}/#/events`)
    await page.locator(".badge", { hasText: "Live" }).waitFor()
    return { page, complaints, pace: await measurePace(browser, page) }
  }

  let published = 0
  /** Publishes for so long at least, and on until it is stopped: a slow browser's clicks come later. */
  const flood = (secondsMin: number) => {
    const over = new AbortController()
    const publish = async () => {
      let [count, tookMs] = [0, 0]
      while (!over.signal.aborted || tookMs < secondsMin * 1_000) {
        const stretch = await publishAtRate(jetstream(publisher), eventsPerSecond, stretchSeconds, published)
        published += eventsPerSecond * stretchSeconds
        count += stretch.confirmedAtMs.size
        tookMs += stretch.tookMs
      }
      return { count, perSecond: (count * 1_000) / tookMs }
    }
    onTestFinished(() => over.abort())
    const publishing = publish()
    return async () => {
      over.abort()
      return publishing
    }
  }
  const newestSequence = async () => {
    const manager = await jetstreamManager(keeper)
    return (await manager.streams.info("EVENTS")).state.last_seq
  }

  const newestLink = (page: Page) => page.locator("table.events tbody a.row-link").first().getAttribute("href")

  const assertQuick = (pace: Pace, what: string) => {
    const told = `${what}: ${JSON.stringify(pace)}`
    console.info(told)
    const { taskMs, inputMs } = paceMax(pace, noticedMs)
    assert.isAtMost(pace.busiestTaskMs, taskMs, told)
    assert.isAtMost(pace.inputMs, inputMs, told)
  }

  it(
    "has no long task, answers clicks, keeps its rows bounded, and says how many went by",
    async () => {
      const { page, complaints, pace } = await openEvents()
      const rows = page.locator("table.events tbody tr")
      const stopFlood = flood(seconds)
      await page.getByText("more went by").waitFor()

      for (let time = 0; time < pausesCount; time += 1) {
        await page.getByRole("button", { name: "Pause" }).click()
        await page.locator(".badge", { hasText: "Paused" }).waitFor()
        const held = await newestLink(page)
        const goOn = page.getByRole("button", { name: /^Resume \([\d,]+ new\)$/u })
        await goOn.waitFor()
        assert.strictEqual(await newestLink(page), held)
        await goOn.click()
        await page.locator(".badge", { hasText: "Live" }).waitFor()
        assert.isAtMost(await rows.count(), linesMax)
      }

      const { count, perSecond } = await stopFlood()
      const newest = await newestSequence()
      await until(() => newestLink(page), { is: `#/events/${newest}`, withinMs: 2_000 })
      assert.strictEqual(await rows.count(), linesMax)
      const told = (await page.getByText("more went by").textContent()) ?? ""
      const [shownCount = 0, passedCount = 0] = (told.match(/[\d,]+/gu) ?? []).map((text) =>
        Number(text.replaceAll(",", ""))
      )
      assert.strictEqual(shownCount + passedCount, count)
      console.info(`${count} events at ${perSecond.toFixed(0)} a second`)
      assert.isAtLeast(perSecond, eventsPerSecondMin)
      assertQuick(await pace(), "pausing and going on")
      assert.deepStrictEqual(complaints(), [])
      await page.context().close()
    },
    (seconds + 600) * 1_000
  )

  it("takes a filter letter by letter, opens an event and changes the screen while they come", async () => {
    const { page, complaints, pace } = await openEvents()
    const stopFlood = flood(10)
    await page.getByText("more went by").waitFor()
    await page.getByRole("button", { name: "Filter", exact: true }).click()
    await page.getByRole("searchbox", { name: "Event" }).pressSequentially("release.*")
    await page.getByText("None of the newest events matches").waitFor()
    await page.getByRole("searchbox", { name: "Event" }).fill("")
    await page.locator("table.events tbody tr").first().waitFor()
    await page.getByRole("button", { name: "Pause" }).click()
    await page.locator("table.events tbody tr").nth(3).getByRole("link").first().click()
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click()
    await page.getByRole("link", { name: "Fleet" }).click()
    await page.getByRole("region", { name: "Processes" }).waitFor()
    await stopFlood()
    assertQuick(await pace(), "filtering, opening and leaving")
    assert.deepStrictEqual(complaints(), [])
    await page.context().close()
  })
})
