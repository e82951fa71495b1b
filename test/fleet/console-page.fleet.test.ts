import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { startCommand } from "../support/command.ts"

let home: Home
let fleet: RunningFleet
beforeAll(async () => {
  home = newHome({ FLEET_ROLES: '["console","pipeline-api"]' })
  fleet = await startFleet(home)
})
afterAll(async () => {
  await fleet.stop("SIGTERM")
  home.remove()
})

describe("the page of a fleet on one machine", () => {
  it("signs in by the address that the command prints, and calls the fleet's other APIs from one origin", async () => {
    const printed = await starling(home, "console")
    assert.strictEqual(printed.code, 0, printed.error)
    const address = new URL(printed.out.trim())
    const { origin } = address
    assert.strictEqual(origin, fleet.ready.console)

    const page = await fetch(`${origin}/`)
    assert.strictEqual(page.status, 200)
    const [, script = ""] = /<script type="module" src="([^"]+)">/u.exec(await page.text()) ?? []
    const loaded = await fetch(`${origin}${script}`)
    assert.strictEqual(loaded.headers.get("content-type"), "text/javascript; charset=utf-8")
    await loaded.body?.cancel()

    const body = JSON.stringify({ code: address.hash.replace("#code=", "") })
    const signIn = { method: "POST", headers: { origin, "content-type": "application/json" }, body }
    const signedIn = await fetch(`${origin}/session`, signIn)
    assert.strictEqual(signedIn.status, 200)
    const session = (await signedIn.json()) as { readonly label: string; readonly apis: ReadonlyArray<string> }
    assert.deepInclude(session, { label: "owner of default", apis: ["pipeline"] })
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? ""

    const items = await fetch(`${origin}/apis/pipeline/workitems`, { headers: { cookie } })
    assert.strictEqual(items.status, 200)
    assert.deepStrictEqual(((await items.json()) as { readonly items: unknown }).items, [])
    const forged = await fetch(`${origin}/apis/pipeline/workitems`, {
      method: "POST",
      headers: { cookie, origin: "https://evil.example" },
      body: "{}"
    })
    assert.strictEqual(forged.status, 403)
    const speech = await fetch(`${origin}/apis/speech/v1/voices`, { headers: { cookie } })
    assert.strictEqual(speech.status, 404)
    assert.strictEqual((await fetch(`${origin}/session`, signIn)).status, 401)
    assert.notInclude(fleet.log(), cookie.split(".")[1] ?? cookie)
  })

  it("has its address in the first line that up prints, with a code that signs in", async () => {
    const other = newHome({ FLEET_ROLES: '["console"]' })
    const up = startCommand(["up"], other.environment)
    try {
      const banner = /^Starling is up: (http:\S+)\/#code=([\w-]{22})$/mu
      await until(() => banner.test(up.said()), { withinMs: startWithinMs })
      const [, origin = "", code = ""] = banner.exec(up.said()) ?? []
      const signedIn = await fetch(`${origin}/session`, {
        method: "POST",
        headers: { origin, "content-type": "application/json" },
        body: JSON.stringify({ code })
      })
      assert.strictEqual(signedIn.status, 200)
    } finally {
      up.signal("SIGTERM")
      assert.strictEqual((await up.ended).code, 0)
      other.remove()
    }
  })
})
