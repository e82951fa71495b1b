/** The uptime of models on the page of a whole fleet: none, then of calls that are made here, paid and free. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Browser, Page } from "playwright-core"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { faultsOf, hasBrowser, openBrowser, signedIn } from "../support/page.ts"

describe.skipIf(!hasBrowser)("the models on the page", () => {
  let home: Home
  let fleet: RunningFleet
  let browser: Browser
  beforeAll(async () => {
    home = newHome()
    fleet = await startFleet(home)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await fleet?.stop("SIGTERM")
    home?.remove()
  })

  const askFree = async (page: Page, prompt: string, phase: string) => {
    await page.getByRole("button", { name: "Try demo/free" }).click()
    await page.getByLabel("Prompt").fill(prompt)
    await page.getByLabel("Prompt").press("Control+Enter")
    await page.locator(`.answer[data-phase=${phase}]`).waitFor()
  }

  it("have no uptime before a call and say what makes one; then it is of the calls, and falls with a failure", async () => {
    const { page, complaints } = await signedIn(browser, fleet, { reducedMotion: "reduce" })
    await page.goto(`${fleet.ready.console}/#/models`)
    await page.getByText("No model was called in the last thirty days").waitFor()
    await page.getByRole("button", { name: "Uptime of demo/free: no calls in 24 h" }).click()
    const drawer = page.getByRole("dialog", { name: "Uptime of demo/free" })
    await drawer.getByText("the uptime appears with the first one").first().waitFor()
    assert.deepStrictEqual(await faultsOf(page, "uptime-none"), [])
    await page.keyboard.press("Escape")

    await askFree(page, "one two three", "answered")
    const whole = page.getByRole("button", { name: "Uptime of demo/free: 100 % of 1 call in 24 h" })
    await whole.waitFor()
    assert.strictEqual(await page.getByText("No model was called in the last thirty days").count(), 0)
    const paid = await starling(home, "pay", "Why is the sky blue?")
    assert.strictEqual(paid.code, 0, paid.error)
    await page.getByRole("button", { name: "Uptime of demo/echo: 100 % of 1 call in 24 h" }).waitFor()
    // The browser, and `starling pay`, which was quoted a price first.
    const callers = page.getByRole("region", { name: "Callers" })
    await callers.getByRole("row", { name: /^any other [1-9]\d* 1 0 0$/u }).waitFor()

    await askFree(page, "!status 503", "refused")
    const half = page.getByRole("button", { name: "Uptime of demo/free: 50 % of 2 calls in 24 h" })
    await half.waitFor()
    await page.setViewportSize({ width: 1_440, height: 900 })
    assert.deepStrictEqual(await faultsOf(page, "uptime-list"), [])
    // The keyboard alone opens it, and gives the focus back.
    await half.focus()
    await page.keyboard.press("Enter")
    await drawer
      .getByRole("img", { name: /1 with failures: .*1 of 2 calls answered/u })
      .first()
      .waitFor()
    await drawer.getByRole("row", { name: /demo 50 % of 2 50 % of 2/u }).waitFor()
    assert.deepStrictEqual(await faultsOf(page, "uptime-drawer"), [])
    await page.keyboard.press("Escape")
    await drawer.waitFor({ state: "detached" })
    assert.match((await page.evaluate("document.activeElement.ariaLabel")) as string, /^Uptime of demo\/free/u)

    const listed = await starling(home, "models")
    assert.match(listed.out, /\ndemo\/free +free +\d+ +50 % +2 +50 % +2\n/u)
    assert.deepStrictEqual(complaints(), [])
    await page.close()
  })
})
