/** A fleet that takes in events of the type that the programs of dev/examples/publish publish, and what they must print. */
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert } from "@effect/vitest"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"

const orders = {
  Name: "order.created",
  Owners: ["internal-services", "token:shop"],
  Schema: { type: "object", required: ["id"], properties: { id: { type: "string" } } }
}

export interface PublishersFleet {
  /** The program's standard output, line by line. */
  readonly run: (program: readonly [string, ...Array<string>], options?: RunOptions) => Promise<ReadonlyArray<string>>
  readonly stop: () => Promise<void>
}

interface RunOptions {
  readonly folder?: string
  readonly variables?: NodeJS.ProcessEnv
}

export const startPublishersFleet = async (): Promise<PublishersFleet> => {
  const home = newHome()
  const config = join(home.folder, "publishers.config.json")
  const sections = { Fleet: { Roles: ["pipeline-api"] }, PipelineApi: { Port: 0 }, Events: { Types: [orders] } }
  writeFileSync(config, JSON.stringify(sections))
  home.environment["STARLING_CONFIG"] = config
  const fleet = await startFleet(home)
  const known = await variablesOf(home, fleet)
  return {
    run: async ([program, ...parameters], { folder, variables } = {}) => {
      const env = { ...process.env, ...known, ...variables }
      const { stdout } = await promisify(execFile)(program, parameters, { cwd: folder ?? home.folder, env })
      return stdout.trim().split(/\n+/u)
    },
    stop: async () => {
      await fleet.stop("SIGTERM")
      home.remove()
    }
  }
}

const variablesOf = async (home: Home, { ready, serviceBus }: RunningFleet) => {
  const flags = ["--label", "shop", "--kind", "service", "--scope", "events:publish", "--json"]
  const made = await starling(home, "token", "make", ...flags)
  return {
    NATS_URL: serviceBus.url,
    NATS_USER: serviceBus.user,
    NATS_PASSWORD: serviceBus.password,
    PIPELINE_API: ready.pipeline,
    TOKEN: (JSON.parse(made.out) as { readonly token: string }).token
  }
}

/** Stored, stored once, refused with the path of the fault, and read back from its place. */
export const assertPublished = (lines: ReadonlyArray<string>) => {
  const [first = "", again, refused, read] = lines
  const place = /^stored as (\d+)$/u.exec(first)?.[1]
  assert.isDefined(place, lines.join("\n"))
  assert.strictEqual(again, `stored as ${place}, a duplicate`)
  assert.match(refused ?? "", /^refused: \/details\/id ./u)
  assert.strictEqual(read, `read ${place} events-from.internal-services.order.created`)
}
