/**
 * A fleet with something to see on every screen: an endpoint whose receiver can be broken, a repository, and a runner.
 */
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { openBrowser } from "./page.ts"
import { fillFleet } from "./page-fill.ts"
import { makeRepositories } from "./pipeline-repository.ts"
import { startRunner } from "./pipeline-runner.ts"

export interface PageWorld {
  readonly fleet: RunningFleet
  readonly browser: Browser
  /** What the receiver answers from now on. */
  readonly answerWith: (status: number) => void
  /** Makes a work item whose agent has a question; answers with its id once it is asked. */
  readonly askQuestion: (title: string, question: string) => Promise<string>
  readonly stop: () => Promise<void>
}

const startReceiver = async () => {
  let status = 204
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status).end(status === 204 ? undefined : "the database is away")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    answerWith: (wanted: number) => {
      status = wanted
    },
    close: () => server.close()
  }
}

interface WorldOptions {
  /** With what a fleet of some hours holds. */
  readonly isFilled?: boolean
}

export const startPageWorld = async ({ isFilled = false }: WorldOptions = {}): Promise<PageWorld> => {
  const receiver = await startReceiver()
  const home = newHome()
  const endpoint = { Name: "demo", Url: receiver.url, MaxAttempts: 1, CircuitBreaker: false }
  const config = join(home.folder, "starling.config.json")
  writeFileSync(config, JSON.stringify({ Webhooks: [endpoint] }))
  const fleet = await startFleet({ ...home, environment: { ...home.environment, STARLING_CONFIG: config } })
  const repositories = makeRepositories()
  const garden = repositories.make("garden")
  const runner = await startRunner({ nats: fleet.ready.nats, home: home.folder, agents: ["coder"] })
  const browser = await openBrowser()
  const askQuestion = async (title: string, question: string) => {
    const id = await createItem(fleet, { title, instructions: `!ask ${question}`, repositoryUrl: garden.url })
    await until(async () => (await callPipeline(fleet, "GET", `/workitems/${id}`)).openQuestions?.length === 1, {
      withinMs: startWithinMs
    })
    return id
  }
  const emptyReceivers = isFilled ? await fillFleet(fleet, home) : () => undefined
  if (isFilled) {
    for (const [title, instructions, agent] of items) {
      await createItem(fleet, { title, instructions, agent, repositoryUrl: garden.url })
    }
  }
  return {
    fleet,
    browser,
    answerWith: receiver.answerWith,
    askQuestion,
    stop: async () => {
      await browser.close()
      await runner.stop()
      await fleet.stop("SIGTERM")
      receiver.close()
      emptyReceivers()
      repositories.remove()
      home.remove()
    }
  }
}

/** Work items in each state, by what their agent is ordered to do. */
const items: ReadonlyArray<readonly [title: string, instructions: string, agent?: string]> = [
  ["Prune the roses", "!ask How far back?"],
  ["Plan the spring beds", "Nobody takes it.", "planner"],
  ["Sweep the path", "Leave no leaf."],
  ["Repaint the bench", "The old green."],
  ["Count the bulbs", "!no-action"],
  ["Mend the greenhouse door", "!fail"],
  ["Water the tomatoes", "!slow work 600"],
  ["Label the seed drawers", "!block 1"]
]

interface Wish {
  readonly title: string
  readonly instructions: string
  readonly repositoryUrl: string
  readonly agent?: string | undefined
}

const createItem = async (
  fleet: RunningFleet,
  { title, instructions, repositoryUrl, agent = "coder" }: Wish
): Promise<string> => {
  await callPipeline(fleet, "PUT", "/projects/garden", { displayName: "Garden", repositoryUrl })
  const wish = { title, projectId: "garden", agent, instructions }
  return (await callPipeline(fleet, "POST", "/workitems", wish)).id
}

const callPipeline = async ({ ready }: RunningFleet, method: string, path: string, body?: unknown) => {
  const answer = await fetch(`${ready.pipeline}${path}`, {
    method,
    headers: { authorization: `Bearer ${ready.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as { readonly id: string; readonly openQuestions?: ReadonlyArray<unknown> }
}
