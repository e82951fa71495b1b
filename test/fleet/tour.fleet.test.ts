/** The commands of the tour and of the README's first steps, run as they stand on a fresh fleet. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"

interface Example {
  readonly page: string
  readonly line: number
  readonly command: string
}

/** The commands of a page's plain blocks, each with its line; a block of `sh` is a quickstart's. */
const examplesOf = (page: string): ReadonlyArray<Example> => {
  const found: Array<Example> = []
  let fence: string | undefined
  let begun: Example | undefined
  for (const [index, text] of readFileSync(page, "utf8").split("\n").entries()) {
    if (text.startsWith("```")) fence = fence === undefined ? text.slice(3) : undefined
    else if (fence === "") {
      const whole: Example = begun
        ? { ...begun, command: `${begun.command}\n${text}` }
        : { page, line: index + 1, command: text }
      begun = text.endsWith("\\") ? whole : undefined
      if (begun === undefined && /^(?:\.\/starling|curl|echo) /u.test(whole.command)) found.push(whole)
    }
  }
  return found
}

/** Those that are not run here, and why. */
const leftOut: ReadonlyArray<readonly [command: RegExp, why: string]> = [
  [/^\.\/starling up/u, "it is the fleet that the others run on: up.fleet.test.ts"],
  [/^\.\/starling (?:test|check)\b/u, "runs this test among all others"],
  [/^\.\/starling load/u, "measures the machine for minutes; the load tests have tests of their own"],
  [/^\.\/starling say "Hello there\." --marks/u, "plays to a sound card; say.fleet.test.ts has a player of its own"],
  [/^\.\/starling consents get <voice id>/u, "needs a person's recordings: voices-consent.fleet.test.ts"],
  [/-d '\{ \.\.\. \}'/u, "leaves its body out; quickstarts.fleet.test.ts runs it whole"],
  [/^\.\/starling runner/u, "goes on for good; quickstarts.fleet.test.ts runs it with an item"]
]

/** Those that go on until they are ended, and what they say when an event comes. */
const goingOn: ReadonlyArray<readonly [command: RegExp, says: RegExp]> = [
  [/^\.\/starling listen/u, /work_item\.merged/u],
  [/^\.\/starling tail +#/u, /work_item\.merged/u]
]

let home: Home
let fleet: RunningFleet

/** The fleet has ports and files of its own. */
const here = (command: string) =>
  command
    .replaceAll("localhost:7402", new URL(fleet.ready.gateway).host)
    .replaceAll("localhost:7401", new URL(fleet.ready.pipeline).host)
    .replaceAll(/ -o (?=\S+\.)/gu, ` -o ${home.folder}/`)

const run = (command: string, says: RegExp | undefined) =>
  new Promise<{ readonly code: number | null; readonly said: string }>((resolve) => {
    const child = spawn("bash", ["-eo", "pipefail", "-c", here(command)], { env: home.environment, detached: true })
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

const runs = ["docs/tour.md", "README.md"]
  .flatMap(examplesOf)
  .filter(({ command }) => !leftOut.some(([pattern]) => pattern.test(command)))

describe("the examples of the tour and the README", () => {
  beforeAll(async () => {
    home = newHome()
    fleet = await startFleet(home)
  }, 120_000)
  afterAll(async () => {
    if (fleet !== undefined) await fleet.stop("SIGTERM")
    home.remove()
  })

  it("are found, and each that is left out stands in one of them", () => {
    const all = ["docs/tour.md", "README.md"].flatMap(examplesOf)
    assert.isAbove(runs.length, 15)
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
      const ended = run(command, says)
      if (says !== undefined) await publishUntil(ended)
      const { code, said } = await ended
      if (says === undefined) assert.strictEqual(code, 0, said.slice(-2_000))
      else assert.match(said, says)
      // curl ends with 0 whatever it is answered.
      if (command.startsWith("curl")) assert.notInclude(said, '"error"')
    },
    120_000
  )
})
