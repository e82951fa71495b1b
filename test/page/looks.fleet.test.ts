import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PageWorld, startPageWorld } from "../support/page-world.ts"
import { homePicture, pictures } from "../support/page-pictures.ts"
import { hasBrowser, portray, seriousFaults, shoot, signedIn } from "../support/page.ts"

const within = (ms: number) => ({ timeout: ms })
const widths = [360, 768, 1_440] as const
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

  const go = async (screen: string) => {
    await page.goto(`${world.fleet.ready.console}/#${screen}`)
    await page
      .getByText(/^Reading/u)
      .first()
      .waitFor({ state: "detached" })
    await page.getByRole("heading").first().waitFor()
  }

  /** What is wrong with what stands there now, in both schemes and at every width; with a picture of each. */
  const faultsHere = async (name: string): Promise<ReadonlyArray<string>> => {
    const faults: Array<string> = []
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of widths) {
        await page.setViewportSize({ width, height })
        const wider = (await page.evaluate("document.documentElement.scrollWidth - innerWidth")) as number
        if (wider > 0) faults.push(`${name} is ${wider} px wider than ${width} px`)
        await shoot(page, `${name}-${width}-${colorScheme}`)
      }
      for (const fault of await seriousFaults(page)) faults.push(`${name} ${colorScheme} ${fault}`)
    }
    return faults
  }

  it("has no serious fault on the sign-in, in light and in dark, at any width", async () => {
    const signedInPage = page
    page = await world.browser.newPage()
    await page.goto(`${world.fleet.ready.console}/`)
    await page.getByLabel("Token").waitFor()
    assert.deepStrictEqual(await faultsHere("sign-in"), [])
    await page.context().close()
    page = signedInPage
  })

  it("has none on Home after each of its four jobs was done there", async () => {
    world.answerWith(500)
    await go("/events/trigger")
    await page.getByLabel("Why").fill("a look at a broken receiver")
    await page.getByRole("button", { name: "Publish", exact: true }).click()
    await page.getByText("500, given up").waitFor(within(10_000))
    world.answerWith(204)
    const item = await world.askQuestion("Oil the gate", "Which oil?")
    await world.askQuestion("Prune the roses", "How far?")

    await go("/")
    await page.getByRole("button", { name: "Publish it" }).click()
    await page.getByText("204 delivered").waitFor(within(10_000))
    await page.getByRole("button", { name: "Pay and ask" }).click()
    await page.locator(".answer[data-phase=answered]").waitFor(within(60_000))
    await page.getByRole("button", { name: "Create an item" }).click()
    await page.getByRole("region", { name: "Run a work item" }).getByRole("link", { name: "Oil the gate" }).waitFor()
    await page.getByRole("button", { name: "Speak a sentence" }).click()
    await page.locator(".sounding[data-phase=spoken]").waitFor(within(60_000))
    await portray(page, homePicture)
    const faults = await faultsHere("home")
    await go(`/work-items/${item}`)
    await page.getByRole("form", { name: "A question of the agent" }).waitFor()
    assert.deepStrictEqual([...faults, ...(await faultsHere("work-item"))], [])
  })

  it("has none on any other screen, and asks no other host", async () => {
    const faults: Array<string> = []
    for (const [screen, picture] of [
      ...Object.entries(pictures),
      ...others.map((screen) => [screen, undefined] as const)
    ]) {
      await page.emulateMedia({ colorScheme: "light" })
      await page.setViewportSize({ width: 1_440, height })
      await go(screen)
      if (screen === "/models") await priceACall()
      if (screen === "/speech") await speakASentence()
      if (screen === "/events")
        await page
          .getByRole("link", { name: /is merged into main/u })
          .first()
          .waitFor()
      if (screen === "/fleet") await page.getByText(/rates over/u).waitFor()
      if (picture !== undefined) await portray(page, picture)
      faults.push(...(await faultsHere(picture ?? `part${screen.replaceAll("/", "_")}`)))
    }
    assert.deepStrictEqual(faults, [])
    assert.deepStrictEqual(complaints(), [])
  })

  it("has none on a delivery and on an event with all that is known of it", async () => {
    await page.emulateMedia({ colorScheme: "light" })
    await page.setViewportSize({ width: 1_440, height })
    await go("/deliveries?outcome=failed")
    await page.locator("a.row-link").first().click()
    await page.getByText("the database is away").waitFor()
    const delivery = await faultsHere("delivery")
    await page
      .getByRole("dialog")
      .getByRole("link", { name: /^work_item\.merged/u })
      .click()
    await page.getByRole("dialog").getByText("Envelope").waitFor()
    assert.deepStrictEqual([...delivery, ...(await faultsHere("event"))], [])
  })

  const priceACall = async () => {
    await page.getByRole("button", { name: "Try demo/echo" }).click()
    await page.getByRole("button", { name: "Get the price" }).click()
    await page.locator(".answer[data-phase=quoted]").waitFor()
  }
  const speakASentence = async () => {
    await page.getByRole("button", { name: "Speak", exact: true }).click()
    await page.locator(".sounding[data-phase=spoken]").waitFor(within(60_000))
  }
})
