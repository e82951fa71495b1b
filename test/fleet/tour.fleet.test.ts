/**
 * The commands of the pages, run as they stand on one fresh fleet. Those of the install guide are run by the Kubernetes
 * tests, those of the API pages and the quickstarts by tests of their own.
 */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"

interface Example {
  readonly page: string
  readonly line: number
  readonly command: string
}

interface Line {
  readonly line: number
  readonly text: string
}

/** The lines of a page's plain blocks; a block of `sh` is a quickstart's. */
const fenced = (page: string): ReadonlyArray<Line> => {
  let fence: string | undefined
  return linesOf(page).filter(({ text }) => {
    if (!text.startsWith("```")) return fence === ""
    fence = fence === undefined ? text.slice(3) : undefined
    return false
  })
}

/** The lines of a page's blocks that are set in by four characters. */
const indented = (page: string): ReadonlyArray<Line> =>
  linesOf(page).flatMap(({ line, text }) => (/^ {4}\S|^ {6}-/u.test(text) ? [{ line, text: text.slice(4) }] : []))

/** The commands within a page's sentences. */
const inSentences = (page: string): ReadonlyArray<Line> =>
  linesOf(page).flatMap(({ line, text }) =>
    [...text.matchAll(/`((?:\.\/starling|curl|node) [^`]+)`/gu)].map(([, command = ""]) => ({ line, text: command }))
  )

const linesOf = (page: string): ReadonlyArray<Line> =>
  readFileSync(page, "utf8")
    .split("\n")
    .map((text, index) => ({ line: index + 1, text }))

/** Commands with their places; one that ends with a backslash goes on. */
const commandsOf = (page: string, lines: ReadonlyArray<Line>): ReadonlyArray<Example> => {
  const found: Array<Example> = []
  let begun: Example | undefined
  for (const { line, text } of lines) {
    const whole: Example = begun ? { ...begun, command: `${begun.command}\n${text}` } : { page, line, command: text }
    begun = text.endsWith("\\") ? whole : undefined
    if (begun === undefined) found.push(whole)
  }
  return found
}

const bare = (command: string) => command.replace(/ +#.*$/u, "")

/** Each command once, where it stands first. */
const everyExample = (): ReadonlyArray<Example> => {
  const steps = ["docs/tour.md", "README.md"].flatMap((page) =>
    commandsOf(page, fenced(page)).filter(({ command }) => /^(?:\.\/starling|curl|echo) /u.test(command))
  )
  const pages = ["docs/operations.md", "docs/console.md", "CONTRIBUTING.md"].flatMap((page) => [
    ...commandsOf(page, page === "CONTRIBUTING.md" ? fenced(page) : indented(page)),
    // A runbook's are read against the command line by runbooks.test.ts.
    ...(page === "docs/operations.md" ? [] : commandsOf(page, inSentences(page)))
  ])
  const first = new Map<string, Example>()
  for (const example of [...steps, ...pages]) {
    if (!first.has(bare(example.command))) first.set(bare(example.command), example)
  }
  return [...first.values()]
}

/** Those that are not run here, and why. */
const leftOut: ReadonlyArray<readonly [command: RegExp, why: string]> = [
  [/^\.\/starling up/u, "it is the fleet that the others run on: up.fleet.test.ts"],
  [/^\.\/starling try/u, "starts a fleet of its own; try.fleet.test.ts runs it"],
  [/^\.\/starling (?:test|check)\b/u, "runs this test among all others"],
  [/^\.\/starling mutants/u, "changes code and runs tests for minutes; test/dev/mutants/ runs it on a room of its own"],
  [/^\.\/starling load/u, "measures the machine for minutes; the load tests have tests of their own"],
  [/^\.\/starling say "Hello there\." --marks/u, "plays to a sound card; say.fleet.test.ts has a player of its own"],
  [/^\.\/starling consents get <voice id>/u, "needs a person's recordings: voices-consent.fleet.test.ts"],
  [/-d '\{ \.\.\. \}'/u, "leaves its body out; quickstarts.fleet.test.ts runs it whole"],
  [/^BUS_URL=nats:.* role sweeper$/u, "goes on for good and says nothing; sweeper-role.fleet.test.ts runs that role"],
  [/^\.\/starling runner/u, "goes on for good; quickstarts.fleet.test.ts runs it with an item"],
  [/^docker |^deploy\/docker\/build\.sh/u, "needs Docker; the containers' tests build the images and run compose.yaml"],
  [/^kubectl /u, "needs a cluster; the Kubernetes tests have one"],
  [/^export STARLING_CONSOLE=/u, "says where the console of a cluster is"],
  [/^BUS_URL=tls:.* token list/u, "needs a broker with certificates; commands-in-a-pod.integration.test.ts has one"],
  [
    /^BUS_URL=tls:.* backup save/u,
    "names the broker of a cluster; test/deploy/backup.integration.test.ts saves the streams of one"
  ],
  [/^\.\/starling backup restore/u, "needs a fleet that is stopped; backup.integration.test.ts stops one"],
  [/^node deploy\/generate\/main\.ts/u, "writes into the tree; generated.test.ts compares what it writes"],
  [/^\.\/starling docs/u, "writes into the tree; documents.test.ts compares what it writes"],
  [/^node dev\/page\/build\.ts/u, "writes into the tree; up builds the page for this fleet"]
]

/** Those that go on until they are ended, and what they say when an event comes. */
const goingOn: ReadonlyArray<readonly [command: RegExp, says: RegExp]> = [
  [/^\.\/starling listen/u, /work_item\.merged/u],
  [/^\.\/starling tail +#/u, /work_item\.merged/u]
]

let home: Home
let fleet: RunningFleet

/** The fleet has ports, files and ids of its own. */
const here = async (command: string) => {
  const { ready } = fleet
  return command
    .replaceAll("localhost:7402", new URL(ready.gateway).host)
    .replaceAll("localhost:7401", new URL(ready.pipeline).host)
    .replaceAll(/^(.*)http:\/\/localhost:7405/gu, `STARLING_TOKEN=${ready.token} $1${ready.console}`)
    .replaceAll("/backup/2026-01-31", join(home.folder, "backup"))
    .replaceAll(/ -o (?=\S+\.)/gu, ` -o ${home.folder}/`)
    .replaceAll("3f8a1c0de4b7", command.includes("3f8a1c0de4b7") ? await idOfToken() : "")
    .replaceAll("<id> --near <place>", command.includes("<place>") ? await placeOfDelivery() : "")
}

const listed = async (...words: ReadonlyArray<string>) => {
  const { code, out, error } = await starling(home, ...words, "--json")
  assert.strictEqual(code, 0, error)
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
}

/** Of the token that a command above made. */
const idOfToken = async () =>
  String((await listed("token", "list")).find(({ label }) => label === "build server")?.["id"])

const placeOfDelivery = async () => {
  const [delivery] = await listed("deliveries", "list")
  return `${String(delivery?.["deliveryId"])} --near ${String(delivery?.["place"])}`
}

/** `says`: ends a command that goes on, once it has said this. */
const run = (command: string, says: RegExp | undefined) =>
  new Promise<{ readonly code: number | null; readonly said: string }>((resolve) => {
    const child = spawn("bash", ["-eo", "pipefail", "-c", command], { env: home.environment, detached: true })
    let said = ""
    const look = (data: Buffer) => {
      said += data.toString("latin1")
      if (says?.test(said) === true && child.pid !== undefined) process.kill(-child.pid, "SIGTERM")
    }
    for (const stream of [child.stdout, child.stderr]) stream.on("data", look)
    child.stdin.end()
    child.once("close", (code) => resolve({ code, said }))
  })

/** Publishes until the one that listens has been told. */
const publishUntil = async (ended: Promise<unknown>) => {
  const listener = { isThere: true }
  void ended.finally(() => (listener.isThere = false))
  while (listener.isThere) await starling(home, "publish", "work_item.merged", "--file", "dev/examples/merged.json")
}

const all = everyExample()
const runs = all.filter(({ command }) => !leftOut.some(([pattern]) => pattern.test(command)))

describe("the examples of the tour, the README and the operators' pages", () => {
  beforeAll(async () => {
    home = newHome()
    fleet = await startFleet(home)
  })
  afterAll(async () => {
    if (fleet !== undefined) await fleet.stop("SIGTERM")
    home.remove()
  })

  it("are found, and each that is left out stands in one of them", () => {
    assert.isAbove(runs.length, 35)
    for (const [pattern] of [...leftOut, ...goingOn]) {
      assert.isTrue(
        all.some(({ command }) => pattern.test(command)),
        String(pattern)
      )
    }
  })

  it.each(runs.map(({ page, line, command }) => [page, line, command] as const))(
    "%s:%d %s",
    async (_page, _line, command) => {
      const says = goingOn.find(([pattern]) => pattern.test(command))?.[1]
      const ended = run(await here(command), says)
      if (says !== undefined) await publishUntil(ended)
      const { code, said } = await ended
      if (says === undefined) assert.strictEqual(code, 0, said.slice(-2_000))
      else assert.match(said, says)
      // curl ends with 0 whatever it is answered.
      if (command.startsWith("curl")) assert.notInclude(said, '"error"')
    }
  )
})
