import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PageWorld, startPageWorld } from "../support/page-world.ts"
import { homePicture, pictures } from "../support/page-pictures.ts"
import { faultsOf, hasBrowser, openPage, portray, signedIn, speakToItsEnd } from "../support/page.ts"

const height = 900

const others = [
  "/",
  "/events/trigger",
  "/endpoints/add",
  "/endpoints/demo",
  "/deliveries/abandoned",
  "/deliveries/rejected",
  "/activity/sums",
  "/activity/claims",
  "/activity/books",
  "/speech/voices",
  "/speech/dialogue",
  "/speech/clone",
  "/fleet/streams",
  "/fleet/leases",
  "/settings/tokens",
  "/settings/acts",
  "/no-such-screen"
]

describe.skipIf(!hasBrowser)("how the page looks", () => {
  let world: PageWorld
  let page: Page
  let complaints: () => ReadonlyArray<string>
  beforeAll(async () => {
    world = await startPageWorld()
    const viewport = { width: 1_440, height }
    ;({ page, complaints } = await signedIn(world.browser, world.fleet, { viewport, reducedMotion: "reduce" }))
  })
  afterAll(() => world?.stop())

  /** Whatever the test before has left. */
  const begin = async (screen: string) => {
    await page.emulateMedia({ colorScheme: "light" })
    await page.setViewportSize({ width: 1_440, height })
    await go(screen)
  }
  const go = async (screen: string) => {
    await page.goto(`${world.fleet.ready.console}/#${screen}`)
    await page
      .getByText(/^Reading/u)
      .first()
      .waitFor({ state: "detached" })
    await page.getByRole("heading").first().waitFor()
  }

  it("has no serious fault on the sign-in, in light and in dark, at any width", async () => {
    const form = await openPage(world.browser, { reducedMotion: "reduce" })
    await form.goto(`${world.fleet.ready.console}/`)
    await form.getByLabel("Token").waitFor()
    assert.deepStrictEqual(await faultsOf(form, "sign-in"), [])
    await form.context().close()
  })

  it("has no serious fault on Home after each of its four jobs was done there", async () => {
    world.answerWith(500)
    await begin("/events/trigger")
    await page.getByLabel("Why").fill("a look at a broken receiver")
    await page.getByRole("button", { name: "Publish", exact: true }).click()
    await page.getByText("500, given up").waitFor()
    world.answerWith(204)
    const item = await world.askQuestion("Oil the gate", "Which oil?")
    await world.askQuestion("Prune the roses", "How far?")

    await go("/")
    await page.getByRole("button", { name: "Publish it" }).click()
    await page.getByText("204 delivered").waitFor()
    await page.getByRole("button", { name: "Pay and ask" }).click()
    await page.locator(".answer[data-phase=answered]").waitFor()
    await page.getByRole("button", { name: "Create an item" }).click()
    await page.getByRole("region", { name: "Run a work item" }).getByRole("link", { name: "Oil the gate" }).waitFor()
    await speakToItsEnd(page, () => page.getByRole("button", { name: "Speak a sentence" }).click())
    await portray(page, homePicture)
    assert.deepStrictEqual(await faultsOf(page, "home"), [])
    await begin(`/work-items/${item}`)
    await page.getByRole("form", { name: "A question of the agent" }).waitFor()
    assert.deepStrictEqual(await faultsOf(page, "work-item"), [])
  })

  /** Until what a screen is looked at for stands there. */
  const stands: Readonly<Record<string, () => Promise<void>>> = {
    "/models": () => priceACall(),
    "/speech": () => speakASentence(),
    "/events": () =>
      page
        .getByRole("link", { name: /is merged into main/u })
        .first()
        .waitFor(),
    "/fleet": () => page.getByText(/rates over/u).waitFor()
  }

  it.each(Object.entries(pictures))(
    "has no serious fault on %s, of which a picture is made",
    async (screen, picture) => {
      await begin(screen)
      await stands[screen]?.()
      await portray(page, picture)
      assert.deepStrictEqual(await faultsOf(page, picture), [])
    }
  )

  it.each(others)("has no serious fault on %s", async (screen) => {
    await begin(screen)
    assert.deepStrictEqual(await faultsOf(page, `part${screen.replaceAll("/", "_")}`), [])
  })

  it("has no serious fault on a delivery and on an event with all that is known of it", async () => {
    await begin("/deliveries?outcome=failed")
    await page.locator("a.row-link").first().click()
    await page.getByText("the database is away").waitFor()
    assert.deepStrictEqual(await faultsOf(page, "delivery"), [])
    await page
      .getByRole("dialog")
      .getByRole("link", { name: /^work_item\.merged/u })
      .click()
    await page.getByRole("dialog").getByText("Envelope").waitFor()
    assert.deepStrictEqual(await faultsOf(page, "event"), [])
  })

  it("asks no other host on any screen, and its scripts have no fault", () => {
    assert.deepStrictEqual(complaints(), [])
  })

  const priceACall = async () => {
    await page.getByRole("button", { name: "Try demo/echo" }).click()
    await page.getByRole("button", { name: "Get the price" }).click()
    await page.locator(".answer[data-phase=quoted]").waitFor()
  }
  const speakASentence = () =>
    speakToItsEnd(page, () => page.getByRole("button", { name: "Speak", exact: true }).click())
})
