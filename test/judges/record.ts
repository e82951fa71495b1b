/**
 * Notes the versions with which all tests of a client passed, for the page of compatibility: where
 * `STARLING_JUDGES_RECORD` is set, and of whole runs alone.
 */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, afterEach } from "@effect/vitest"
import { judgedClients } from "../../services/model-gateway/judged-clients.ts"
import { installedClient } from "./client-packages.ts"

const file = join(import.meta.dirname, "../../services/model-gateway/judged-versions.json")

export const recordJudged = (kind: "agent" | "library") => {
  const ended = new Map<string, Array<string | undefined>>()
  afterEach(({ task }) => {
    const suite = task.suite?.name ?? ""
    ended.set(suite, [...(ended.get(suite) ?? []), task.result?.state])
  })
  afterAll(async () => {
    if (process.env["STARLING_JUDGES_RECORD"] === undefined) return
    const versions = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>
    for (const client of judgedClients.filter((each) => each.kind.startsWith(kind))) {
      const states = ended.get(`the newest ${client.title}`) ?? []
      const found = await installedClient(client)
      if (typeof found === "string" || states.length === 0 || states.some((state) => state !== "pass")) continue
      const own = Object.fromEntries(client.packages.map((each) => [each, found.versions[each]]))
      versions[client.name] = { on: new Date().toISOString().slice(0, 10), tests: states.length, versions: own }
    }
    await writeFile(file, `${JSON.stringify(versions, null, 2)}\n`)
  })
}
