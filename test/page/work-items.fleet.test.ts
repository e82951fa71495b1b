import { spawn } from "node:child_process"
import { once } from "node:events"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import { type Home, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { hasBrowser, openBrowser, signedIn } from "../support/page.ts"
import { makeRepositories, type TestRepositories } from "../support/pipeline-repository.ts"

describe.skipIf(!hasBrowser)("work items on the page", () => {
  let home: Home
  let fleet: RunningFleet
  let browser: Browser
  let repositories: TestRepositories
  beforeAll(async () => {
    home = newHome()
    repositories = makeRepositories()
    fleet = await startFleet(home)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await fleet.stop("SIGTERM")
    repositories.remove()
    home.remove()
  })

  it("creates a work item in the page, answers its agent's question in place, and sees it done", async () => {
    const runner = spawn("./starling", ["runner", "--agent", "coder"], { env: home.environment, stdio: "ignore" })
    const { page, complaints } = await signedIn(browser, fleet)
    try {
      await page.goto(`${fleet.ready.console}/#/work-items`)
      await page.getByRole("button", { name: "New work item" }).click()
      await page.getByLabel("What is to be done").fill("Oil the gate")
      await page.getByLabel("Instructions").fill("!ask Which oil?")
      await page.getByLabel("Project").last().fill("garden")
      await page.getByLabel("Repository").fill(repositories.make("garden").url)
      await page.getByLabel("Agent").fill("coder")
      await page.getByRole("button", { name: "Create" }).click()

      const question = page.getByRole("form", { name: "A question of the agent" })
      await question.getByText("Which oil?").waitFor()
      await question.getByLabel("Your answer").fill("Linseed.")
      await question.getByLabel("Your answer").press("Control+Enter")
      await question.waitFor({ state: "detached" })

      const timeline = page.getByRole("region", { name: "What happened" })
      await timeline.getByText("Linseed.", { exact: true }).waitFor()
      await timeline.getByRole("link", { name: "work_item.done" }).waitFor()
      await page.getByRole("link", { name: "Work items" }).first().click()
      await page.getByRole("region", { name: "done" }).getByText("Oil the gate").waitFor()
      assert.isEmpty(complaints())
    } finally {
      runner.kill("SIGTERM")
      await once(runner, "exit")
      await page.close()
    }
  })
})
