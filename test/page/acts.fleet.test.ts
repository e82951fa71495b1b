/** Every act of an operator, clicked in a browser on a whole fleet; and that who may only look finds none of them. */
import { writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { exampleEnvelope, subjects } from "#base"
import { busOf } from "../../dev/fixtures/payment-bus.ts"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { bookFinding, Books } from "../../services/payment-settler/reconciliation/Books.ts"
import { publishOver } from "../support/bus-contents.ts"
import { hasBrowser, openBrowser, openPage, seriousFaults, signedIn } from "../support/page.ts"
import { hex32 } from "../support/payments.ts"

let home: Home
let fleet: RunningFleet
let receiver: Server
let browser: Browser
let status = 204
const received: Array<string> = []
const proxySecret = "only the proxy and the console know it"

type Json = Readonly<Record<string, unknown>>

const asked = async (path: string, { body, token = fleet.ready.token }: { body?: Json; token?: string } = {}) => {
  const answer = await fetch(`${fleet.ready.console}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: answer.status, body: (await answer.json()) as Json }
}
const itemsOf = async (path: string) => (await asked(path)).body["items"] as ReadonlyArray<Json>
const actsOf = async (action: string) => (await itemsOf(`/audit?action=${action}`)).map(({ target }) => String(target))

/** Three deliveries that are given up after their one attempt. */
const abandonThree = async () => {
  status = 500
  for (let count = 0; count < 3; count++) await asked("/events", { body: { reason: "a story", event: "queue.paused" } })
  await until(() => itemsOf("/abandoned"), { is: ({ length }) => length === 3 })
  status = 204
}

/** Two messages in REJECTED, as the fan-out puts them there; this release accepts them. */
const rejectTwo = async () => {
  for (const message of ["is missing", "is of another release"]) {
    await publishOver(fleet.busAs("webhook-dispatcher"), subjects.rejected("events"), {
      origin: "events",
      subject: subjects.event("queue.paused"),
      sequence: null,
      faults: [{ path: "/details", message }],
      receivedAt: new Date().toISOString(),
      payloadBase64: Buffer.from(JSON.stringify(exampleEnvelope("queue.paused"))).toString("base64"),
      truncated: false
    })
  }
}

/** A finding that a settler can mend, and one that a person alone can explain. */
const findTwo = async () => {
  const { body } = await asked("/books")
  const [account] = body["books"] as ReadonlyArray<Readonly<Record<"network" | "payTo" | "asset", string>>>
  assert.isDefined(account)
  const { network, payTo, asset } = account
  const transferOf = (name: string) => ({
    transaction: hex32(name),
    network,
    asset,
    payTo,
    payer: payTo,
    amount: 123n,
    nonce: null,
    position: "1:0"
  })
  const findings = [
    { _tag: "UncollectedButPaid", claimKey: "claim.eip155.0xa.0xb.0xc", transfer: transferOf("paid after all") },
    { _tag: "TransferWithoutReceipt", claimKey: null, transfer: transferOf("a gift") }
  ] as const
  const foundAtMs = Date.now()
  const keep = Effect.gen(function* () {
    const bus = Layer.succeedContext(yield* busOf(fleet.busAs("payment-settler")))
    const books = yield* Effect.provide(Books, Books.layer.pipe(Layer.provide(bus)))
    for (const finding of findings) {
      yield* books.keep(bookFinding({ Network: network, PayTo: payTo }, finding, foundAtMs), 0)
    }
  })
  await Effect.runPromise(Effect.scoped(keep))
}

/** What axe finds in the page as it stands, in both schemes. */
const assertForAll = async (page: Page, what: string) => {
  for (const [colorScheme, of] of [
    ["light", "all"],
    ["dark", "colours"]
  ] as const) {
    await page.emulateMedia({ colorScheme })
    assert.deepStrictEqual(await seriousFaults(page, of), [], `${what}, ${colorScheme}`)
  }
}

/** Clicks an act, and answers its question. */
const act = async (page: Page, from: Page | Locator, label: string, question: string | RegExp) => {
  await from.getByRole("button", { name: label, exact: true }).click()
  const dialog = page.getByRole("dialog", { name: question })
  await dialog.getByLabel("Why").fill("a story")
  await dialog.getByRole("button", { name: label, exact: true }).click()
  await dialog.waitFor({ state: "detached" })
}

/** Lets no read of a path be answered until the function that it resolves to is called. */
const holdReads = async (page: Page, path: string) => {
  const release = Promise.withResolvers<void>()
  const isOfPath = (url: URL) => url.pathname.endsWith(path)
  await page.route(isOfPath, async (route) => {
    if (route.request().method() === "GET") await release.promise
    // The page breaks a read off when it begins another.
    await route.continue().catch(() => undefined)
  })
  return async () => {
    release.resolve()
    await page.unroute(isOfPath)
  }
}

const stateIn = (place: Locator, state: string) => place.locator(".badge", { hasText: state })

const actLabels = ["Add an endpoint", "Test", "Pause", "Resume", "Rotate secret", "Disable", "Enable", "Remove"].concat(
  ["Send again", "Send again since …", "Count all", "Send all again", "Discard", "Mend", "Accept", "Trigger"],
  ["Make a token", "Revoke", "Declare a type", "Retire", "Use again"]
)

describe.skipIf(!hasBrowser)("the acts of the page", () => {
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      received.push(request.url ?? "")
      request.resume()
      response.writeHead(status).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
    home = newHome()
    const endpoint = { Name: "demo", Url: `${receiverUrl()}/demo`, MaxAttempts: 1, CircuitBreaker: false }
    const config = join(home.folder, "starling.config.json")
    // The findings of these stories are on no chain: a comparison would end them.
    const PaymentSettler = { ReconcileSeconds: 86_400 }
    const Console = { PageProxyHeader: "X-Forwarded-User", PageProxySecretEnvVar: "PROXY_SECRET" }
    writeFileSync(config, JSON.stringify({ Webhooks: [endpoint], PaymentSettler, Console }))
    const environment = { ...home.environment, STARLING_CONFIG: config, PROXY_SECRET: proxySecret }
    fleet = await startFleet({ ...home, environment })
    browser = await openBrowser()
    await Promise.all([abandonThree(), rejectTwo(), findTwo()])
  })
  afterAll(async () => {
    await browser?.close()
    await fleet?.stop("SIGTERM")
    receiver?.close()
    home?.remove()
  })

  const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const look = async (screen: string, token = fleet.ready.token) => {
    const viewport = { width: 1_440, height: 900 }
    const { page, complaints } = await signedIn(browser, fleet, { token, viewport, reducedMotion: "reduce" })
    await page.goto(`${fleet.ready.console}/#${screen}`)
    return { page, complaints }
  }

  it("add an endpoint, whatever its name, change it, rotate its secret, disable, enable and remove it", async () => {
    const { page, complaints } = await look("/endpoints")
    await page.getByRole("button", { name: "Add an endpoint" }).click()
    const form = page.getByRole("dialog", { name: "Add an endpoint" })
    await form.getByLabel("Name", { exact: true }).fill("add")
    await form.getByLabel("Address", { exact: true }).fill(`${receiverUrl()}/added`)
    await form.getByLabel("Why").fill("a story")
    await assertForAll(page, "the form of an endpoint")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    const first = await form.getByRole("status", { name: "Its secret" }).locator("code").textContent()
    assert.match(first ?? "", /^whsec_/u)
    await assertForAll(page, "a secret")
    await form.getByRole("button", { name: "Open it" }).click()

    const drawer = page.getByRole("dialog", { name: "add", exact: true })
    await stateIn(drawer, "in service").waitFor()
    await assertForAll(page, "the drawer of an endpoint")
    await act(page, drawer, "Test", "Send a test to add?")
    await until(() => received.includes("/added"))

    await drawer.getByText("Change its settings").click()
    await drawer.getByLabel("Description").fill("for a story")
    await drawer.getByLabel("Why").fill("a story")
    await drawer.getByRole("button", { name: "Change", exact: true }).click()
    await drawer.getByText("Changed.").waitFor()
    await drawer.locator("dd", { hasText: "for a story" }).waitFor()

    // One act after the other, faster than the endpoint is read again: each follows the change that the last one made.
    const readAgain = await holdReads(page, "/endpoints/add")
    await act(page, drawer, "Rotate secret", "Rotate the secret of add?")
    const second = await drawer.getByRole("status", { name: "Its new secret" }).locator("code").textContent()
    assert.match(second ?? "", /^whsec_/u)
    assert.notStrictEqual(second, first)
    await act(page, drawer, "Disable", "Disable add?")
    await stateIn(drawer, "disabled").waitFor()
    await act(page, drawer, "Enable", "Enable add?")
    await stateIn(drawer, "in service").waitFor()
    await readAgain()
    await act(page, drawer, "Pause", "Pause add?")
    await stateIn(drawer, "paused").waitFor()
    await act(page, drawer, "Resume", "Resume add?")
    await stateIn(drawer, "in service").waitFor()
    await act(page, drawer, "Remove", "Remove add?")
    await drawer.waitFor({ state: "detached" })
    await until(() => itemsOf("/endpoints"), { is: ({ length }) => length === 1 })
    for (const action of ["create", "test", "change", "rotate", "disable", "enable", "pause", "resume", "remove"]) {
      assert.lengthOf(await actsOf(`endpoint-${action}`), 1, action)
    }
    assert.deepStrictEqual(complaints(), [])
    await page.context().close()
  })

  it("declare an event type with the faults at its fields, change it and retire it", async () => {
    const { page, complaints } = await look("/types")
    await page.getByRole("button", { name: "Declare a type" }).click()
    const form = page.getByRole("dialog", { name: "Declare an event type" })
    await form.getByLabel("Name", { exact: true }).fill("order.paid")
    await form.getByLabel("Owners").fill("internal-services")
    await form.getByLabel("Schema").fill('{ "type": "object", "properties": { "total": { "type": "objekt" } } }')
    await form.getByLabel("Example").fill('{ "total": 7 }')
    await form.getByLabel("Why").fill("a story")
    await form.getByRole("button", { name: "Declare", exact: true }).click()
    await form.locator(".faulty", { hasText: "properties.total" }).waitFor()
    await assertForAll(page, "the form of an event type")
    await form.getByLabel("Schema").fill('{ "type": "object", "properties": { "total": { "type": "integer" } } }')
    await form.getByRole("button", { name: "Declare", exact: true }).click()

    const drawer = page.getByRole("dialog", { name: "order.paid", exact: true })
    await stateIn(drawer, "in use").waitFor()
    await assertForAll(page, "the drawer of an event type")
    await drawer.getByText("Change it").click()
    await drawer.getByLabel("Published when").fill("an order is paid")
    await drawer.getByLabel("Why").fill("a story")
    await drawer.getByRole("button", { name: "Change", exact: true }).click()
    await drawer.locator("dd", { hasText: "an order is paid" }).waitFor()
    await act(page, drawer, "Retire", "Retire order.paid?")
    await stateIn(drawer, "retired").waitFor()
    await act(page, drawer, "Use again", "Use order.paid again?")
    await stateIn(drawer, "in use").waitFor()
    assert.include(await actsOf("event-type-declare"), "order.paid")
    assert.lengthOf(await actsOf("event-type-change"), 3)
    assert.deepStrictEqual(complaints(), [])
    await page.context().close()
  })

  it("make a token that works at once, and revoke it: it is refused within five seconds", async () => {
    const { page } = await look("/settings/tokens")
    await page.getByRole("button", { name: "Make a token" }).click()
    const form = page.getByRole("dialog", { name: "Make a token" })
    await form.getByLabel("Label").fill("of a story")
    await form.getByLabel("Role").selectOption("member")
    await form.getByLabel("Why").fill("a story")
    await assertForAll(page, "the form of a token")
    await form.getByRole("button", { name: "Make it" }).click()
    const token = (await form.getByRole("status", { name: "The token" }).locator("code").textContent()) ?? ""
    assert.strictEqual((await asked("/events", { token })).status, 200)
    await form.getByRole("button", { name: "Close" }).click()

    const row = page.getByRole("row", { name: "of a story" })
    await act(page, row, "Revoke", "Revoke of a story?")
    await until(() => asked("/events", { token }), { is: (seen) => seen.status === 401, withinMs: 5_000 })
    await stateIn(row, "revoked").waitFor()
    await page.context().close()
  })

  it("count what was sent since a time, and send so many again", async () => {
    const { page } = await look("/deliveries")
    await page.getByRole("button", { name: "Send again since …" }).click()
    const dialog = page.getByRole("dialog", { name: "Send again since a time" })
    await dialog.getByLabel("Endpoint").fill("demo")
    await dialog.getByLabel("Why").fill("a story")
    await assertForAll(page, "the form of sending again")
    await dialog.getByRole("button", { name: "Count them" }).click()
    await dialog.getByText("3 deliveries would be sent").waitFor()
    await assertForAll(page, "the count")
    const before = received.length
    await dialog.getByRole("button", { name: "Send 3 deliveries" }).click()
    await dialog.getByText("3 deliveries sent again.").waitFor()
    await until(() => received.length, { is: before + 3 })
    await page.context().close()
  })

  it("send an abandoned delivery again, and discard another, each from its drawer", async () => {
    const { page } = await look("/deliveries/abandoned")
    const rows = page.getByRole("region", { name: "Abandoned deliveries" }).locator("tbody tr")
    await rows.nth(2).waitFor()
    const before = received.length
    for (const [label, question, left] of [
      ["Send again", "Send it again?", 2],
      ["Discard", "Discard it for good?", 1]
    ] as const) {
      await rows.first().getByRole("link").click()
      const drawer = page.getByRole("dialog", { name: "Abandoned delivery" })
      await drawer.getByText("Body as sent").waitFor()
      await assertForAll(page, "the drawer of an abandoned delivery")
      await act(page, drawer, label, question)
      await drawer.waitFor({ state: "detached" })
      await rows.nth(left).waitFor({ state: "detached" })
    }
    await until(() => received.length, { is: before + 1 })
    assert.lengthOf(await itemsOf("/abandoned"), 1)
    await page.context().close()
  })

  it("send a rejected message again, which then is delivered, and discard another", async () => {
    const { page } = await look("/deliveries/rejected")
    const rows = page.getByRole("region", { name: "Rejected messages" }).locator("tbody tr")
    await rows.nth(1).waitFor()
    const before = received.length
    await rows.first().getByRole("link").click()
    const drawer = page.getByRole("dialog", { name: "Rejected message" })
    await drawer.getByText("Payload", { exact: true }).waitFor()
    await assertForAll(page, "the drawer of a rejected message")
    await act(page, drawer, "Send again", "Publish it as it is?")
    await rows.nth(1).waitFor({ state: "detached" })
    await until(() => received.length, { is: before + 1 })
    await rejectTwo()
    await rows.nth(2).waitFor()
    await rows.first().getByRole("link").click()
    await act(page, drawer, "Discard", "Discard it for good?")
    await rows.nth(2).waitFor({ state: "detached" })
    assert.lengthOf(await itemsOf("/rejected"), 2)
    await page.context().close()
  })

  it("mend a finding of the books by a settler, and accept one that a person explains", async () => {
    const { page } = await look("/activity/books")
    const findings = page.getByRole("region", { name: "Findings" })
    for (const [what, label, question, end] of [
      ["uncollected but paid", "Mend", "Mend the finding?", "payer-served"],
      ["transfer without receipt", "Accept", "Accept the finding?", "accepted"]
    ] as const) {
      await findings.getByRole("row", { name: what }).getByRole("link").click()
      const finding = page.getByRole("region", { name: "The finding" })
      await finding.getByRole("heading", { name: what }).waitFor()
      await assertForAll(page, `the finding ${what}`)
      if (label === "Accept") assert.isTrue(await finding.getByRole("button", { name: "Mend" }).isDisabled())
      await act(page, finding, label, question)
      await stateIn(finding, end).waitFor()
      await page.goto(`${fleet.ready.console}/#/activity/books`)
    }
    await page.getByText("Chain, claims and receipts agree").waitFor()
    await page.context().close()
  })

  it("are not there for a viewer, on no screen and in no drawer", async () => {
    await findTwo()
    const ids = async (path: string, key: string) => String((await itemsOf(path))[0]?.[key])
    const { body } = await asked("/books?ended=true")
    const [finding] = body["findings"] as ReadonlyArray<Json>
    const delivery = (await itemsOf("/deliveries"))[0]
    const made = await starling(home, "token", "make", "--role", "viewer")
    const { page } = await look("/endpoints", made.out.trim())
    const screens: ReadonlyArray<readonly [screen: string, shown: string | RegExp]> = [
      ["/endpoints", "demo"],
      ["/endpoints/demo", "in service"],
      ["/endpoints?form=add", "demo"],
      ["/types", "order.paid"],
      ["/types/order.paid", "Schema of its details"],
      ["/types?form=declare", "order.paid"],
      ["/deliveries", "demo"],
      [`/deliveries/${String(delivery?.["deliveryId"])}`, "Body as sent"],
      ["/deliveries/abandoned", "queue.paused"],
      [`/deliveries/abandoned/${await ids("/abandoned", "sequence")}`, "Body as sent"],
      ["/deliveries/rejected", "events.queue.paused"],
      [`/deliveries/rejected/${await ids("/rejected", "sequence")}`, "Payload"],
      [`/activity/books/${String(finding?.["id"])}`, "What to do:"],
      ["/events/trigger", "Events"],
      ["/settings/tokens", "Only owners manage tokens"]
    ]
    for (const [screen, shown] of screens) {
      await page.goto(`${fleet.ready.console}/#${screen}`)
      await page.getByText(shown).first().waitFor()
      const buttons = await page.getByRole("button").allTextContents()
      assert.deepStrictEqual(
        buttons.filter((label) => actLabels.includes(label.trim())),
        [],
        screen
      )
      assert.strictEqual(await page.getByRole("textbox", { name: "Why" }).count(), 0, screen)
    }
    await page.context().close()
  })

  it("are a person's by name, whom a proxy in front signs in without a token", async () => {
    const extraHTTPHeaders = { "x-forwarded-user": "Ada Lovelace", "x-starling-proxy-secret": proxySecret }
    const page = await openPage(browser, { extraHTTPHeaders })
    await page.goto(`${fleet.ready.console}/#/settings/acts`)
    await page
      .getByRole("row")
      .filter({ hasText: "as the proxy in front says" })
      .getByText("Ada Lovelace viewer")
      .waitFor()
    assert.strictEqual(await page.locator(".rail-who").getByText("Ada Lovelace").count(), 1)
    await page.goto(`${fleet.ready.console}/#/events`)
    await page.locator(".badge", { hasText: "Live" }).waitFor()
    await page.context().close()
  })

  it("are explained by the runbook beside each condition of the fleet", async () => {
    await asked("/endpoints/demo/pause", { body: { reason: "a story" } })
    const { page, complaints } = await look("/fleet")
    for (const [title, words] of [
      ["demo is paused", "./starling endpoints resume"],
      ["Abandoned deliveries to demo", "./starling abandoned resend"],
      ["Rejected messages from", "./starling rejected"]
    ] as const) {
      const condition = page.getByRole("list", { name: "What needs attention" }).locator("li", { hasText: title })
      await condition.getByText("Runbook").click()
      await condition.locator("code", { hasText: words }).first().waitFor()
    }
    await assertForAll(page, "open runbooks")
    assert.deepStrictEqual(complaints(), [])
    await page.context().close()
    await asked("/endpoints/demo/resume", { body: { reason: "a story" } })
  })

  it("are found by the event: every attempt of one, and of no other", async () => {
    const of = async (sequence: number) => (await itemsOf(`/deliveries?eventSequence=${sequence}`)).length
    const { body } = await asked("/events", { body: { reason: "a story", event: "queue.resumed" } })
    const sequence = Number(body["sequence"])
    await until(() => of(sequence), { is: 1 })
    const { page } = await look(`/events/${sequence}`)
    await page.getByRole("dialog").getByRole("link", { name: "every attempt", exact: true }).click()
    const rows = page.getByRole("region", { name: "Attempts, newest first" }).locator("tbody tr")
    await rows.filter({ hasText: "queue.resumed" }).waitFor()
    assert.strictEqual(await rows.count(), 1)
    await page.getByRole("button", { name: `Remove filter Event number: ${sequence}` }).waitFor()
    await page.context().close()
  })

  it("count all that was abandoned, and send it again", async () => {
    const { page } = await look("/deliveries/abandoned")
    await act(page, page, "Count all", "Count what would be sent?")
    await page.getByRole("status").getByText("1 delivery").waitFor()
    await act(page, page, "Send all again", "Send all of them again?")
    await until(() => itemsOf("/abandoned"), { is: ({ length }) => length === 0 })
    await page.context().close()
  })
})
