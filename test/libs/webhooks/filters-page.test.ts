import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { exampleEnvelope, eventCatalogue } from "#base"
import { compileContentFilter } from "#webhooks"
import { type ContentFilter, decodeEndpointSettings } from "#webhooks/contract"

const page = readFileSync(new URL("../../../docs/webhooks.md", import.meta.url), "utf8")
const section = page.slice(page.indexOf("## Filters"), page.indexOf("## Endpoints made at run time"))
const filters = [...section.matchAll(/```json\n(?<json>[\s\S]*?)```/gu)].map(
  ({ groups }) => JSON.parse(groups?.["json"] ?? "") as ContentFilter
)

const wants = (filter: ContentFilter | undefined, envelope: unknown) => {
  const settings = decodeEndpointSettings({ Name: "a", Url: "https://a.example", ContentFilter: filter })
  return compileContentFilter(Result.getOrThrow(settings).ContentFilter ?? {})(envelope)
}

/** The catalogue's example, with fields of its own. */
const event = (name: string, change: Readonly<Record<string, object>> = {}) => {
  const example: Readonly<Record<string, unknown>> = { ...exampleEnvelope(name) }
  const changed = Object.entries(change).map(([key, fields]) => [key, { ...(example[key] as object), ...fields }])
  return { ...example, ...Object.fromEntries(changed) } as unknown
}

const opened = "work_item.pull_request_opened"
const release = { baseBranch: "release/2" }

describe("the filters of docs/webhooks.md", () => {
  it("are three", () => {
    assert.strictEqual(filters.length, 3)
  })

  it.each<readonly [number, string, unknown, boolean]>([
    [0, "an event of the project", event("work_item.merged"), true],
    [0, "another project", event("work_item.merged", { project: { id: "meadow" } }), false],
    [0, "no project", event("queue.paused"), false],
    [1, "a request into a release branch", event(opened, { details: release }), true],
    [1, "a merge into it", event("work_item.merged", { workItem: release }), true],
    [1, "a request into main", event(opened), false],
    [1, "a bot's request", event(opened, { details: release, workItem: { agent: "bot-1" } }), false],
    [1, "another event", event("work_item.done", { workItem: release }), false],
    [2, "an audit of one fault", event("audit.findings.emitted"), true],
    [2, "an audit of four", event("audit.findings.emitted", { details: { blocking: 4 } }), false],
    [2, "an item that was pushed at once", event("work_item.done"), true],
    [2, "one that was not", event("work_item.done", { workItem: { upstreamPushAttempts: 1 } }), false]
  ])("take by number %i %s", (at, _, envelope, expected) => {
    assert.strictEqual(wants(filters[at], envelope), expected)
  })

  it("know only events that there are", () => {
    const names = new Set(eventCatalogue.map(({ name }) => name))
    for (const [, name = ""] of section.matchAll(/"((?:work_item|audit)\.[a-z_.]+)"/gu))
      assert.isTrue(names.has(name), name)
  })
})
