/** A browser that looks at the console's page as somebody with a token does. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { assert } from "vitest"
import { type RunningFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { portraits } from "./page-pictures.ts"

/** The headless shell opens and draws the same page for half the processor time of the whole browser. */
const browsers = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]
const executablePath = process.env["STARLING_CHROMIUM"] ?? browsers.find((path) => existsSync(path)) ?? ""

export const hasBrowser = existsSync(executablePath)

/** Beside other tests a click on the page may take half a minute. */
const shownWithinMs = 60_000

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    // Sound plays without a click, as on a page that somebody uses often.
    args: ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
  })

/** A page in a context of its own, whose waits only end what hangs. */
export const openPage = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Page> => {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(shownWithinMs)
  return context.newPage()
}

export interface SignedIn {
  readonly page: Page
  /** What the browser complained of: faults of scripts, what the page's own policy forbids, and calls of other hosts. */
  readonly complaints: () => ReadonlyArray<string>
}

const openingsMax = 5

/**
 * A browser gives its requests up when an interface with an address comes or goes, as those of other tests' containers do.
 * The page loads what it lost by itself; only a page that is itself lost is opened again here.
 */
const opened = async (page: Page, address: string) => {
  for (let opening = 1; ; opening++) {
    try {
      return await page.goto(address)
    } catch (error) {
      if (opening === openingsMax || !String(error).includes("ERR_NETWORK_CHANGED")) throw error
    }
  }
}

/** Signs in by the form, with the owner's token or another. */
export const signedIn = async (
  browser: Browser,
  { ready }: RunningFleet,
  options: BrowserContextOptions & { readonly script?: string; readonly token?: string } = {}
): Promise<SignedIn> => {
  const { script, token = ready.token, ...rest } = options
  const page = await openPage(browser, rest)
  if (script !== undefined) await page.context().addInitScript({ content: script })
  const complaints: Array<string> = []
  const { origin } = new URL(ready.console)
  page.on("request", (request) => {
    const asked = new URL(request.url())
    if (asked.protocol.startsWith("http") && asked.origin !== origin) complaints.push(`asked ${request.url()}`)
  })
  page.on("pageerror", (error) => complaints.push(String(error)))
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text())
  })
  const unanswered: Array<string> = []
  page.on("requestfailed", (request) => unanswered.push(`${request.url()}: ${request.failure()?.errorText}`))
  page.on("response", (response) => {
    if (response.status() >= 400) unanswered.push(`${response.url()}: ${response.status()}`)
  })
  await opened(page, `${ready.console}/`)
  await page
    .getByLabel("Token")
    .fill(token)
    .catch(async (cause: unknown) => {
      const shown = await page.locator("body").innerText()
      throw new Error(`no form to sign in, but "${shown}"; ${[...unanswered, ...complaints].join("; ")}`, { cause })
    })
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("navigation", { name: "Screens" }).waitFor({ state: "attached" })
  return { page, complaints: () => complaints }
}

/** Without the rules whose finds are never called worse than moderate: half of the work, for what nobody asks here. */
const axe = `${readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")}
;axe.configure({
  rules: axe._audit.rules
    .filter(({ impact }) => impact === "minor" || impact === "moderate")
    .map(({ id }) => ({ id, enabled: false }))
})`

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
}

/** A scheme changes colours alone; what all other rules look at depends on what stands where. */
const colourRules = ["color-contrast", "link-in-text-block"]
const checks = {
  all: {},
  colours: { runOnly: colourRules },
  shapes: { rules: Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }])) }
}

/** What axe finds that keeps people out. It runs outside the page's own policy, as a browser's tools do. */
export const seriousFaults = async (page: Page, of: keyof typeof checks = "all"): Promise<ReadonlyArray<string>> => {
  // Half a megabyte that a document keeps while it stands.
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe)
  // What passed need not be described; only the milder rules would have sounds and styles loaded first.
  const options = JSON.stringify({ ...checks[of], resultTypes: ["violations"], preload: false, selectors: false })
  const found = (await page.evaluate(`axe.run(document, ${options})`)) as {
    readonly violations: ReadonlyArray<Violation>
  }
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`)
    )
}

const widest = 1_440
const widths = [360, 768, widest] as const
const height = 900

/** What is wrong with a page as it stands, in light: with its shape at every width, and with its colours in both schemes. */
export const faultsOf = async (page: Page, name: string): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const width of widths) {
    await page.setViewportSize({ width, height })
    const wider = (await page.evaluate("document.documentElement.scrollWidth - innerWidth")) as number
    if (wider > 0) faults.push(`${name} is ${wider} px wider than ${width} px`)
    // The widest is looked at for its shape and its colours at once: axe reads the whole page for either.
    for (const fault of await seriousFaults(page, width === widest ? "all" : "shapes"))
      faults.push(`${name} at ${width} px: ${fault}`)
    await shoot(page, `${name}-${width}`)
  }
  await page.emulateMedia({ colorScheme: "dark" })
  for (const fault of await seriousFaults(page, "colours")) faults.push(`${name} in dark: ${fault}`)
  await shoot(page, `${name}-dark`)
  await page.emulateMedia({ colorScheme: "light" })
  return faults
}

const pictures = join(import.meta.dirname, "../../.starling/screenshots")

/** Keeps a picture where somebody wants to look at it: a browser takes longer for one than for all that is checked. */
export const shoot = async (page: Page, name: string) => {
  if (process.env["STARLING_PICTURES"] === undefined) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

/** The picture of a screen that the documents show; made where `STARLING_PORTRAITS` names their folder. */
export const portray = async (page: Page, name: string) => {
  const folder = process.env["STARLING_PORTRAITS"]
  if (folder === undefined || !portraits.includes(name)) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.webp`), await asWebp(page.context(), await page.screenshot()))
}

// Letters stay sharp, and a screen takes some 80 kB.
const webpQuality = 0.8

/** A browser takes pictures as PNG alone, and draws them as WebP. */
const asWebp = async (context: BrowserContext, png: Buffer): Promise<Buffer> => {
  const canvas = await context.newPage()
  const drawn = (await canvas.evaluate(`(async () => {
    const image = new Image()
    image.src = "data:image/png;base64,${png.toString("base64")}"
    await image.decode()
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height })
    canvas.getContext("2d").drawImage(image, 0, 0)
    return canvas.toDataURL("image/webp", ${webpQuality})
  })()`)) as string
  await canvas.close()
  return Buffer.from(drawn.slice(drawn.indexOf(",") + 1), "base64")
}

/** Speaks, and again while a busy fleet refuses to begin, as a person would. Tells what the page says if it never ends. */
export const speakToItsEnd = async (page: Page, press: () => Promise<void>) => {
  const sounding = page.getByRole("region", { name: "What is spoken" })
  const phase = () => sounding.getAttribute("data-phase")
  const spoken = async () => {
    await press()
    await until(async () => ["spoken", "failed"].includes((await phase()) ?? ""), { withinMs: shownWithinMs })
    if ((await phase()) === "spoken") return true
    const refusal = (await sounding.getByRole("alert").textContent()) ?? ""
    assert.match(refusal, /^(?:speech is not available at the moment|too many requests)/iu)
    return false
  }
  await until(spoken, { withinMs: shownWithinMs }).catch(async (error: unknown) =>
    assert.fail(`${String(error)}: ${await sounding.textContent()}`)
  )
}
