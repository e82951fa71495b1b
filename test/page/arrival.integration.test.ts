/** The page when files of it, or its first answers, are lost on the way, as when a browser's network changes. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { HttpListener } from "#http"
import { until } from "../../dev/fixtures/eventually.ts"
import { buildPage } from "../../dev/page/build.ts"
import { withConsole } from "../support/console.ts"
import { hasBrowser, openBrowser, openPage } from "../support/page.ts"

const home = mkdtempSync(join(tmpdir(), "starling-arrival-"))
const folder = join(home, "page")

describe.skipIf(!hasBrowser)("a page that does not arrive whole", () => {
  let browser: Browser
  beforeAll(async () => {
    await buildPage(folder)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(home, { recursive: true })
  })

  const looking = (story: (page: Page, url: string) => Promise<void>) =>
    withConsole(
      () =>
        Effect.flatMap(HttpListener, ({ url }) =>
          Effect.acquireUseRelease(
            Effect.promise(() => openPage(browser)),
            (page) => Effect.promise(() => story(page, url)),
            (page) => Effect.promise(() => page.context().close())
          )
        ),
      { Console: { Page: true, PageFolder: folder } }
    )

  /** Loses the first so many answers; how many were asked for. */
  const losing = async (page: Page, address: RegExp, count: number) => {
    const asked = { count: 0 }
    await page.route(address, (route) => {
      asked.count += 1
      return asked.count <= count ? route.abort("internetdisconnected") : route.continue()
    })
    return asked
  }
  const form = (page: Page) => page.getByLabel("Token")

  it.live("loads itself again when a script of it is lost, whichever it is", () =>
    looking(async (page, url) => {
      for (const script of [/\/assets\/main-[^/]*\.js/u, /\/assets\/chunk-[^/]*\.js/u]) {
        const asked = await losing(page, script, 2)
        await page.goto(url)
        await form(page).waitFor()
        assert.isAbove(asked.count, 2)
        await page.unrouteAll()
      }
      assert.isNull(await page.evaluate("sessionStorage.getItem('starling.tries')"))
    })
  )

  it.live("asks again for a style sheet that is lost, and does not begin again for it", () =>
    looking(async (page, url) => {
      let documents = 0
      page.on("request", (request) => (documents += request.isNavigationRequest() ? 1 : 0))
      const asked = await losing(page, /\/assets\/main-[^/]*\.css/u, 2)
      await page.goto(url)
      await until(() => page.evaluate("getComputedStyle(document.body).margin"), { is: "0px" })
      await form(page).waitFor()
      assert.deepStrictEqual([asked.count, documents], [3, 1])
    })
  )

  it.live("says so when a script stays lost, and comes when it is told to try once more", () =>
    looking(async (page, url) => {
      const asked = await losing(page, /\/assets\/main-[^/]*\.js/u, Number.POSITIVE_INFINITY)
      await page.goto(url)
      const again = page.getByRole("button", { name: "Load it again" })
      await again.waitFor()
      assert.strictEqual(asked.count, 6)
      await page.unrouteAll()
      await again.click()
      await form(page).waitFor()
    })
  )

  it.live("asks once more who this is when the answer is lost, and waits for a console that is away", () =>
    looking(async (page, url) => {
      const asked = await losing(page, /\/session$/u, 1)
      await page.goto(url)
      await form(page).waitFor()
      assert.strictEqual(asked.count, 2)
      assert.strictEqual(await page.getByRole("alert").count(), 0)

      await page.unrouteAll()
      await losing(page, /\/session$/u, Number.POSITIVE_INFINITY)
      await page.goto(url)
      await page.getByRole("alert").getByText("The console does not answer").waitFor()
      assert.strictEqual(await form(page).count(), 0)
      await page.unrouteAll()
      await form(page).waitFor()
    })
  )
})
