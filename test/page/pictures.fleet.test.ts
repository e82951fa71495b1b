import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PageWorld, startPageWorld } from "../support/page-world.ts"
import { pictures } from "../support/page-pictures.ts"
import { faultsOf, hasBrowser, portray, signedIn, speakToItsEnd } from "../support/page.ts"

describe.skipIf(!hasBrowser)("the screens of a fleet that is in use", () => {
  let world: PageWorld
  let page: Page
  let complaints: () => ReadonlyArray<string>
  beforeAll(async () => {
    world = await startPageWorld({ isFilled: true })
    const viewport = { width: 1_440, height: 900 }
    ;({ page, complaints } = await signedIn(world.browser, world.fleet, { viewport, reducedMotion: "reduce" }))
  })
  afterAll(() => world?.stop())

  /** What is done on a screen, until what it is looked at for is shown. */
  const acts: Readonly<Record<string, () => Promise<void>>> = {
    "/": async () => {
      await page
        .getByRole("link", { name: /abandoned deliveries/iu })
        .first()
        .waitFor()
      await page.getByRole("button", { name: "Publish it" }).click()
      await page.getByText("204 delivered").first().waitFor()
      await page.getByRole("button", { name: "Pay and ask" }).click()
      await page.locator(".answer[data-phase=answered]").waitFor()
    },
    "/models": async () => {
      await page.getByRole("button", { name: "Try demo/echo" }).click()
      await page.getByRole("button", { name: "Get the price" }).click()
      await page.locator(".answer[data-phase=quoted]").waitFor()
    },
    "/speech": () => speakToItsEnd(page, () => page.getByRole("button", { name: "Speak", exact: true }).click()),
    "/events": () =>
      page
        .getByRole("link", { name: /is merged into main/u })
        .first()
        .waitFor(),
    "/fleet": () => page.getByText(/rates over/u).waitFor()
  }

  it.each(Object.entries(pictures))(
    "have no serious fault: %s, of which a picture is made",
    async (screen, picture) => {
      await page.emulateMedia({ colorScheme: "light" })
      await page.setViewportSize({ width: 1_440, height: 900 })
      await page.goto(`${world.fleet.ready.console}/#${screen}`)
      await page
        .getByText(/^Loading/u)
        .first()
        .waitFor({ state: "detached" })
      await page.getByRole("heading").first().waitFor()
      await acts[screen]?.()
      await portray(page, picture)
      assert.deepStrictEqual(await faultsOf(page, picture), [])
    }
  )

  it("ask no other host, and their scripts have no fault", () => {
    assert.deepStrictEqual(complaints(), [])
  })
})
