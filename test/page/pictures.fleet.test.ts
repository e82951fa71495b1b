import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PageWorld, startPageWorld } from "../support/page-world.ts"
import { pictures } from "../support/page-pictures.ts"
import { faultsOf, hasBrowser, portray, seriousFaults, signedIn, speakToItsEnd } from "../support/page.ts"

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
      await page.locator(".history svg").first().waitFor()
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
      // Home's charts are below its jobs.
      await page.setViewportSize({ width: 1_440, height: screen === "/" ? 1_240 : 900 })
      await page.goto(`${world.fleet.ready.console}/#${screen}`)
      await page
        .getByText(/^Loading/u)
        .first()
        .waitFor({ state: "detached" })
      await page.getByRole("heading").first().waitFor()
      await acts[screen]?.()
      await page.mouse.move(0, 0)
      await page.evaluate("scrollTo(0, 0)")
      await portray(page, picture)
      assert.deepStrictEqual(await faultsOf(page, picture), [])
    }
  )

  it("show the text of an error, copy an id, remove a filter, and say why a button waits", async () => {
    const open = (screen: string) => page.goto(`${world.fleet.ready.console}/#${screen}`)
    await open("/deliveries?endpoint=search-index&outcome=failed")
    await page.getByRole("button", { name: "timeout: show the error" }).first().click()
    await page
      .getByText(/DeadlineExceeded: no complete answer/u)
      .first()
      .waitFor()
    assert.deepStrictEqual(await seriousFaults(page), [])
    await page.keyboard.press("Escape")
    await page.getByRole("button", { name: "Remove filter Endpoint: search-index" }).click()
    await page
      .getByRole("row", { name: /crm-sync/u })
      .first()
      .waitFor()
    assert.include(page.url(), "/deliveries?outcome=failed")
    await page.getByRole("button", { name: "failed", exact: true }).click()
    assert.match(page.url(), /\/deliveries$/u)

    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    await open("/activity")
    await page
      .getByRole("button", { name: /: copy payer$/u })
      .first()
      .click()
    await page.getByRole("button", { name: /: copied payer$/u }).waitFor()
    assert.match(String(await page.evaluate("navigator.clipboard.readText()")), /^0x[\da-f]{40}$/iu)

    await open("/endpoints/demo")
    const remove = page.getByRole("dialog").getByRole("button", { name: "Remove" })
    await remove.focus()
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Tab")
    const reason = page.getByRole("tooltip").filter({ visible: true })
    assert.match((await reason.textContent()) ?? "", /configuration file/u)
    assert.strictEqual(await remove.getAttribute("aria-describedby"), await reason.getAttribute("id"))
    await page.keyboard.press("Enter")
    assert.strictEqual(await page.getByRole("dialog").count(), 1)
    assert.deepStrictEqual(await seriousFaults(page), [])
  })

  it("ask no other host, and their scripts have no fault", () => {
    assert.deepStrictEqual(complaints(), [])
  })
})
