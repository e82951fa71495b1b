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

export const startPageWorld = async (): Promise<PageWorld> => {
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
  return {
    fleet,
    browser,
    answerWith: receiver.answerWith,
    askQuestion: (title, question) => askQuestion(fleet, { title, question, repositoryUrl: garden.url }),
    stop: async () => {
      await browser.close()
      await runner.stop()
      await fleet.stop("SIGTERM")
      receiver.close()
      repositories.remove()
      home.remove()
    }
  }
}

interface Wish {
  readonly title: string
  readonly question: string
  readonly repositoryUrl: string
}

const askQuestion = async ({ ready }: RunningFleet, { title, question, repositoryUrl }: Wish): Promise<string> => {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${ready.pipeline}${path}`, {
      method,
      headers: { authorization: `Bearer ${ready.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { readonly id: string; readonly openQuestions?: ReadonlyArray<unknown> }
  }
  await call("PUT", "/projects/garden", { displayName: "Garden", repositoryUrl })
  const wish = { title, projectId: "garden", agent: "coder", instructions: `!ask ${question}` }
  const { id } = await call("POST", "/workitems", wish)
  await until(async () => (await call("GET", `/workitems/${id}`)).openQuestions?.length === 1, {
    withinMs: startWithinMs
  })
  return id
}
