import type { Locator, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PageWorld, startPageWorld } from "../support/page-world.ts"
import { hasBrowser, openPage, signedIn, speakToItsEnd } from "../support/page.ts"

// The way through the list of screens and a card is a dozen stops; more would be no way for a person.
const stopsMax = 30

/** Goes there by Tab alone, and fails where a stop shows no focus or the way is too long. */
const tabTo = async (page: Page, wanted: Locator) => {
  await wanted.waitFor()
  for (let stops = 0; stops < stopsMax; stops += 1) {
    if (await isFocused(wanted)) return
    await page.keyboard.press("Tab")
    const { outline, html } = await focusOf(page)
    assert.notStrictEqual(outline, "none", `${html} shows no focus on the way to ${wanted}`)
  }
  assert.fail(`${wanted} is more than ${stopsMax} stops away`)
}

const isFocused = (element: Locator) =>
  element.evaluate((found: unknown) => {
    const { document } = globalThis as unknown as { readonly document: { readonly activeElement: unknown } }
    return document.activeElement === found
  })

/** After the last stop of the page the browser has one of its own, where the page itself has the focus. */
const focusOf = (page: Page): Promise<Readonly<Record<"outline" | "html", string>>> =>
  page.evaluate(`(({ activeElement: at, body }) => ({
    outline: at === body ? "its own" : getComputedStyle(at).outlineStyle,
    html: at.outerHTML.slice(0, 200)
  }))(document)`)

describe.skipIf(!hasBrowser)("the first minutes by keyboard alone", () => {
  let world: PageWorld
  beforeAll(async () => {
    world = await startPageWorld()
  })
  afterAll(() => world?.stop())

  const open = async (screen: string) => {
    const { page } = await signedIn(world.browser, world.fleet, { viewport: { width: 1_440, height: 900 } })
    await page.goto(`${world.fleet.ready.console}/#${screen}`)
    await page.getByRole("heading", { level: 1 }).waitFor()
    // Where it stands after signing in says nothing about who comes by an address.
    await page.evaluate("document.activeElement?.blur()")
    return page
  }

  it("signs in", async () => {
    const page = await openPage(world.browser)
    await page.goto(`${world.fleet.ready.console}/`)
    await tabTo(page, page.getByLabel("Token"))
    await page.keyboard.insertText(world.fleet.ready.token)
    await page.keyboard.press("Enter")
    await page.getByRole("navigation", { name: "Screens" }).waitFor()
    await page.context().close()
  })

  it("sends an event, sees its delivery, and looks at the event", async () => {
    const page = await open("/")
    await tabTo(page, page.getByRole("button", { name: "Publish it" }))
    await page.keyboard.press("Enter")
    await page.getByText("204 delivered").waitFor()
    await tabTo(page, page.getByRole("link", { name: /^event \d+$/u }))
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").getByText("204 delivered").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await page.context().close()
  })

  it("finds a delivery that failed, and repairs it", async () => {
    world.answerWith(500)
    const page = await open("/events/trigger")
    await tabTo(page, page.getByLabel("Why"))
    await page.keyboard.type("a look at a broken receiver")
    await page.keyboard.press("Enter")
    await page.getByText("500, given up").waitFor()
    world.answerWith(204)
    await page.keyboard.press("Escape")

    await tabTo(page, page.getByRole("link", { name: "Deliveries" }))
    await page.keyboard.press("Enter")
    await tabTo(
      page,
      page
        .getByRole("row", { name: /given up/u })
        .getByRole("link")
        .first()
    )
    await page.keyboard.press("Enter")
    await tabTo(page, page.getByRole("button", { name: "Send again", exact: true }))
    await page.keyboard.press("Enter")
    const question = page.getByRole("dialog", { name: "Send it again?" })
    await tabTo(page, question.getByLabel("Why"))
    await page.keyboard.type("it is mended")
    await page.keyboard.press("Enter")
    await tabTo(page, page.getByText("Sent again as").getByRole("link"))
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").getByText("204 delivered").waitFor()
    await page.context().close()
  })

  it("finds a thing by its id from any screen, and goes on from it", async () => {
    const page = await open("/settings")
    await page.keyboard.press("/")
    const field = page.getByLabel("Id", { exact: true })
    await field.waitFor()
    assert.isTrue(await isFocused(field))
    await page.keyboard.type("demo")
    await page.keyboard.press("Enter")
    const found = page.getByRole("list", { name: /^What is kept/u })
    await tabTo(page, found.getByRole("link", { name: "demo", exact: true }))
    await page.keyboard.press("Enter")
    await page.getByRole("dialog", { name: "demo" }).waitFor()
    await page.context().close()
  })

  it("answers the question of a runner", async () => {
    await world.askQuestion("Oil the gate", "Which oil?")
    const page = await open("/work-items")
    await tabTo(page, page.getByRole("link", { name: "Oil the gate" }))
    await page.keyboard.press("Enter")
    const question = page.getByRole("form", { name: "A question of the agent" })
    await tabTo(page, question.getByLabel("Your answer"))
    await page.keyboard.type("Linseed.")
    await tabTo(page, question.getByRole("button", { name: "Answer" }))
    await page.keyboard.press("Enter")
    await question.waitFor({ state: "detached" })
    await page.getByRole("region", { name: "What happened" }).getByText("Linseed.", { exact: true }).waitFor()
    await page.context().close()
  })

  it("hears a sentence", async () => {
    const page = await open("/")
    await speakToItsEnd(page, async () => {
      await tabTo(page, page.getByRole("button", { name: "Speak a sentence" }))
      await page.keyboard.press("Enter")
    })
    await page.context().close()
  })

  it("pays for a call, and comes to its receipt", async () => {
    const page = await open("/")
    await tabTo(page, page.getByRole("button", { name: "Pay and ask" }))
    await page.keyboard.press("Enter")
    const answer = page.locator(".answer[data-phase=answered]")
    await answer.waitFor()
    await tabTo(page, answer.getByRole("link", { name: /^0x/u }))
    await page.keyboard.press("Enter")
    const receipts = page.getByRole("region", { name: "Receipts" })
    await tabTo(page, receipts.getByRole("link").first())
    await page.keyboard.press("Enter")
    await page.getByRole("region", { name: /^Receipt/u }).waitFor()
    await page.context().close()
  })
})
