import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { addAddress } from "../../page/endpoint-addresses.ts"
import { type PageWorld, startPageWorld } from "../support/page-world.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { pictures } from "../support/page-pictures.ts"
import { faultsOf, hasBrowser, openPage, signedIn, speakToItsEnd } from "../support/page.ts"

const height = 900

const others = [
  "/",
  "/events/trigger",
  "/types",
  "/types/work_item.merged",
  "/types?form=declare",
  addAddress,
  "/endpoints/demo",
  "/deliveries/abandoned",
  "/deliveries/rejected",
  "/activity/sums",
  "/activity/claims",
  "/activity/books",
  "/activity/chains",
  "/speech/voices",
  "/speech/dialogue",
  "/speech/clone",
  "/fleet/history",
  "/fleet/timeline",
  "/fleet/streams",
  "/fleet/leases",
  "/settings/tokens",
  "/settings/acts",
  "/no-such-screen"
]

/** Dialogs by the screen, the button that opens one, and what then has the focus: the label of a field, or the title. */
const dialogs: ReadonlyArray<readonly [screen: string, opener: string | undefined, focused: string]> = [
  ["/events/trigger", undefined, "Event"],
  ["/types?form=declare", undefined, "Name"],
  [addAddress, undefined, "Name"],
  ["/endpoints/demo", undefined, "title"],
  ["/endpoints/demo", "Pause", "Why"],
  ["/deliveries", "Send again since …", "Endpoint"],
  ["/work-items", "New work item", "What is to be done"],
  ["/settings/tokens", "Make a token", "Label"]
]

/** The label of the field that has the focus, or `title` for that of a dialog. */
const focusIn = (page: Page): Promise<string> =>
  page.evaluate(`(({ activeElement: at }) =>
    at.matches("dialog h2") ? "title" : at.labels?.[0]?.textContent ?? at.outerHTML.slice(0, 200))(document)`)

/** Fields in which people and programs write what they like. */
const freeTexts = new Set([
  "agent",
  "by",
  "description",
  "display_name",
  "endpoint",
  "error",
  "label",
  "reason",
  "target",
  "what"
])

/** The answer of an API with each free text as long as that; an error is of an attempt without an answer. */
const lengthened = (value: unknown, long: string): unknown => {
  if (Array.isArray(value)) return value.map((each) => lengthened(each, long))
  if (typeof value !== "object" || value === null) return value
  const isFailed = "outcome" in value && value.outcome === "failed"
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (isFailed && name === "status") return [name, null]
      const isFree = freeTexts.has(name) && (typeof field === "string" || (isFailed && name === "error"))
      return [name, isFree ? long : lengthened(field, long)]
    })
  )
}

/** Tables that are wider than their place, and cells that take more than a column's part. */
const pushedOut = `[...document.querySelectorAll(".table-room, main table")]
  .filter((each) => each.scrollWidth > each.parentElement.clientWidth + 1 || each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.getAttribute("aria-label") + " " + each.scrollWidth + " in " + each.clientWidth)`
const clips = `document.querySelectorAll("td .clip").length`

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
      .getByText(/^Loading/u)
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
    // What lies there from before is said, although every role is up.
    await page.getByRole("link", { name: /abandoned deliveries to demo/iu }).waitFor()
    assert.strictEqual(await page.getByText("Nothing needs attention").count(), 0)
    await page.getByRole("button", { name: "Publish it" }).click()
    await page.getByText("204 delivered").waitFor()
    await page.getByRole("button", { name: "Pay and ask" }).click()
    await page.locator(".answer[data-phase=answered]").waitFor()
    await page.getByRole("button", { name: "Create an item" }).click()
    await page.getByRole("region", { name: "Run a work item" }).getByRole("link", { name: "Oil the gate" }).waitFor()
    await speakToItsEnd(page, () => page.getByRole("button", { name: "Speak a sentence" }).click())
    assert.deepStrictEqual(await faultsOf(page, "home"), [])
    await begin(`/work-items/${item}`)
    await page.getByRole("form", { name: "A question of the agent" }).waitFor()
    assert.deepStrictEqual(await faultsOf(page, "work-item"), [])
  })

  it("draws on Home what the fleet does, in words too, and lists what happened", async () => {
    await begin("/")
    const drawn = page.getByRole("region", { name: "What the fleet does" })
    const chart = drawn.getByRole("region", { name: "Deliveries" }).getByRole("img")
    await drawn
      .getByRole("img", { name: /^Last hour: now [0-9.]+\/s.*most at/u })
      .first()
      .waitFor()
    assert.strictEqual(await chart.count(), 1)
    await drawn.getByRole("button", { name: "Last day" }).click()
    await drawn
      .getByRole("img", { name: /^Last day: now/u })
      .first()
      .waitFor()
    assert.strictEqual(await drawn.getByRole("button", { name: "Last day" }).getAttribute("aria-pressed"), "true")
    const happened = page.getByRole("region", { name: "What happened" })
    await happened.getByText(/^Release .* started at .*webhook-dispatcher/u).waitFor()
    await happened.getByRole("link", { name: "All that happened" }).click()
    await page.getByRole("button", { name: "Starts" }).click()
    await page.getByText(/^Release .* started at .*speech-synthesizer/u).waitFor()
  })

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

  it("puts the focus on the first field of a form before the page, and else on the title", async () => {
    for (const [screen, opener, wanted] of dialogs) {
      await begin("/no-such-screen")
      await begin(screen)
      if (opener !== undefined) await page.getByRole("button", { name: opener, exact: true }).click()
      // One that waits beneath another is not there for the time being.
      const dialog = page.getByRole("dialog")
      await (wanted === "title" ? dialog.getByRole("heading").first() : dialog.getByLabel(wanted)).waitFor()
      await until(() => focusIn(page), { is: wanted }).catch(async () =>
        assert.strictEqual(await focusIn(page), wanted, `${screen} ${opener ?? ""}`)
      )
      const before = await page.locator("dialog").count()
      await page.keyboard.press("Escape")
      await until(() => page.locator("dialog").count(), { is: (seen) => seen < before })
      assert.strictEqual(await page.locator("dialog").count(), before - 1, `${screen}: the question alone`)
      const backAt = (await page.evaluate("document.activeElement.textContent")) as string
      if (opener !== undefined) assert.strictEqual(backAt, opener, screen)
    }
  })

  it.each(["x".repeat(600), "a text that never ends ".repeat(30)])(
    "keeps the columns of every table where texts are as long as %s",
    async (long) => {
      await page.route("**/*", async (route) => {
        if (route.request().resourceType() !== "fetch") return route.continue()
        const response = await route.fetch()
        const isJson = response.headers()["content-type"] === "application/json"
        return isJson
          ? route.fulfill({ response, json: lengthened(await response.json(), long) })
          : route.fulfill({ response })
      })
      try {
        let cut = 0
        for (const screen of [...Object.keys(pictures), ...others]) {
          await begin(screen)
          assert.deepStrictEqual(await page.evaluate(pushedOut), [], screen)
          cut += Number(await page.evaluate(clips))
        }
        assert.isAbove(cut, 5)
        await begin("/deliveries?outcome=failed")
        const clip = page.locator("tbody .clip").first()
        assert.strictEqual(await clip.getAttribute("title"), await clip.textContent())
        const heightPx = async () => (await clip.boundingBox())?.height ?? 0
        const before = await heightPx()
        await clip.focus()
        assert.isAbove(await heightPx(), before, "the focus shows all of it")
      } finally {
        await page.unrouteAll({ behavior: "ignoreErrors" })
      }
    }
  )

  it("has a title and words on every screen when nothing can be read", async () => {
    const { page: away } = await signedIn(world.browser, world.fleet)
    await away.route("**/*", (route) => {
      const { pathname } = new URL(route.request().url())
      if (!["fetch", "eventsource"].includes(route.request().resourceType()) || pathname === "/session")
        return route.continue()
      const error = { code: "service_unavailable", message: "the broker is away" }
      return route.fulfill({ status: 503, json: { error, request_id: "req_1" } })
    })
    for (const screen of [...Object.keys(pictures), ...others.slice(1, -1)]) {
      await away.goto(`${world.fleet.ready.console}/#/no-such-screen`)
      await away.goto(`${world.fleet.ready.console}/#${screen}`)
      await away.getByRole("heading", { level: 1 }).waitFor()
      const room = away.getByRole("main")
      await room
        .getByText(/^Loading/u)
        .first()
        .waitFor({ state: "detached" })
      assert.isAtLeast(
        await room.getByText(/cannot be loaded right now|the broker is unavailable/iu).count(),
        1,
        screen
      )
      assert.isTrue(await away.getByRole("navigation", { name: "Screens" }).isVisible(), screen)
    }
    await away.context().close()
  })

  it("says why nobody is signed in, by the way that led there", async () => {
    const { console: origin, token } = world.fleet.ready
    const codeOf = async () => {
      const answer = await fetch(`${origin}/session/codes`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ reason: "a test" })
      })
      return ((await answer.json()) as { readonly code: string }).code
    }
    const form = await openPage(world.browser)
    const said = form.getByRole("alert")
    const used = await codeOf()
    await form.goto(`${origin}/#code=${used}`)
    await form.getByRole("button", { name: "Sign out" }).click()
    await said.getByText("You have signed out").waitFor()
    assert.strictEqual(await form.locator(":focus").getAttribute("type"), "password")
    // In the open tab, and as a page of its own.
    await form.goto(`${origin}/#code=${used}`)
    await said.getByText("This sign-in link has expired").waitFor()
    await form.goto("about:blank")
    await form.goto(`${origin}/#code=${used}`)
    await said.getByText("This sign-in link has expired").waitFor()
    await form.goto(`${origin}/#code=half`)
    await said.getByText("This link is incomplete").waitFor()
    await form.getByLabel("Token").fill("stl_wrong")
    await form.getByRole("button", { name: "Sign in" }).click()
    await said.getByText("This token cannot sign in").waitFor()
    await form.goto(`${origin}/#code=${await codeOf()}`)
    await form.getByRole("heading", { name: "Home" }).waitFor()
    await form.context().clearCookies()
    await said.getByText("Your session has ended").waitFor()
    await form.context().close()
  })

  it("asks no other host on any screen, and its scripts have no fault", () => {
    assert.deepStrictEqual(complaints(), [])
  })
})
