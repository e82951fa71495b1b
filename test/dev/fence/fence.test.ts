import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { faultsOf } from "../../../dev/fence/fence.ts"
import { rooms, roomTable } from "../../../dev/fence/rooms.ts"
import { folder, imports, judged, names } from "./trial.ts"

/** Stated apart from the table, so that a slip in the table is seen. */
const refused = [
  ["libs/base/a.ts", `export { Metrics } from "#runtime"`],
  ["libs/base/a.ts", `import { readFile } from "node:fs/promises"`],
  ["libs/runtime/a.ts", `import { Kv } from "#bus"`],
  ["libs/runtime/a.ts", `import { Actors } from "#actors"`],
  ["libs/egress/a.ts", `import { Kv } from "#bus"`],
  ["libs/bus/a.ts", `import { UntrustedHttp } from "#egress"`],
  ["libs/bus/a.ts", `import { Registry } from "prom-client"`],
  ["libs/bus/inner/a.ts", `import { Kv } from "#bus"`],
  ["libs/bus/inner/a.ts", `import { metric } from "../../runtime/index.ts"`],
  ["libs/webhooks/a.ts", `import koffi from "koffi"`],
  ["libs/http/a.ts", `import { Actors } from "#actors"`],
  ["services/webhook-dispatcher/a.ts", `export { connect } from "@nats-io/transport-node"`],
  ["services/webhook-dispatcher/a.ts", `export { Pool } from "undici"`],
  ["services/webhook-dispatcher/a.ts", `export { roles } from "../fleet/roles.ts"`],
  ["services/webhook-dispatcher/a.ts", `export { Nats } from "../../libs/bus/Nats.ts"`],
  ["services/sweeper/a.ts", `import type { Layer } from "#pipeline-api"`],
  ["services/sweeper/a.ts", `const role = await import("../pipeline-api/layer.ts")`],
  ["services/sweeper/a.ts", "const role = await import(`#pipeline-api`)"],
  ["services/sweeper/a.ts", `const role = await import(process.argv[2])`],
  ["services/sweeper/a.ts", `new Worker(new URL("../fleet/thread.ts", import.meta.url))`],
  ["services/sweeper/a.ts", `import { createRequire } from "node:module"`],
  ["services/sweeper/a.ts", `import "#nobody"`],
  ["services/sweeper/a.ts", `import "fs"`],
  ["services/sweeper/a.ts", `import { HttpClient } from "effect/http"`],
  ["services/sweeper/a.ts", `import settings from "../../tsconfig.json" with { type: "json" }`],
  ["services/fleet/a.ts", `import { layer } from "../sweeper/layer.ts"`],
  ["services/fleet/a.ts", `import { top } from "../cli/top/top.ts"`],
  ["dev/chain/a.ts", `import { up } from "#fleet/up"`],
  ["load-tests/a.ts", `import { until } from "../test/support/role.ts"`],
  ["page/a.ts", `import { apiScopes } from "#base"`],
  ["page/a.ts", `import "#base"`],
  ["page/a.ts", `import { type ApiScope, apiScopes } from "#base"`],
  ["page/a.ts", `import { Effect } from "effect"`],
  ["page/a.ts", `import type { Kv } from "#bus"`],
  ["page/a.ts", `import { readFileSync } from "node:fs"`],
  ["libs/console/words/a.ts", `import { isoTime } from "#base"`],
  ["services/webhook-dispatcher/a.ts", `import { lineOf } from "#console/words"`]
] as const

const allowed = [
  ["libs/bus/inner/a.ts", `import { Kv } from "../Kv.ts"`],
  ["libs/bus/a.ts", `import { jetstream } from "@nats-io/jetstream/internal"`],
  ["services/webhook-dispatcher/a.ts", `import { Kv } from "#bus"`],
  ["services/sweeper/a.ts", `// import { Pool } from "undici"\nexport const text = 'import "undici"'`],
  ["services/sweeper/a.ts", `import * as Option from "effect/Option"`],
  ["services/cli/a.ts", `import manifest from "../../package.json" with { type: "json" }`],
  ["services/fleet/a.ts", `const role = await import("#sweeper")`],
  ["page/a.ts", `import type { ConsoleHttpApi } from "#console/api"`],
  ["page/a.ts", `import { type HttpApi } from "effect/http-api"`],
  ["page/a.ts", `import { useState } from "react"`],
  ["page/a.ts", `import { lineOf } from "#console/words"`],
  ["page/a.ts", `import "./design/theme.css"`],
  ["test/libs/bus/a.ts", `import { Nats } from "../../../libs/bus/Nats.ts"`]
] as const

describe("the fence on one import", () => {
  const places = [...refused, ...allowed].map(([file], index) => `${dirname(file)}/one-${index}.ts`)
  let told: (index: number) => ReadonlyArray<string>
  beforeAll(() => {
    const faults = judged(new Map([...refused, ...allowed].map(([, line], index) => [places[index] ?? "", [line]])))
    told = (index) => faults(places[index] ?? "", 1)
  })

  it.each(refused.map((trial, index) => [...trial, index] as const))("refuses in %s: %s", (_, __, index) => {
    assert.lengthOf(told(index), 1)
  })

  it.each(allowed.map((trial, index) => [...trial, index] as const))("allows in %s: %s", (_, __, index) => {
    assert.deepStrictEqual(told(refused.length + index), [])
  })

  it("names the file, the line, the import and the rooms of the broken rule", () => {
    assert.deepStrictEqual(told(2), [`libs/runtime/one-2.ts:1 imports "#bus": libs/runtime may not know libs/bus`])
  })
})

/** Faults of a whole file. */
describe("the fence on a file", () => {
  const whole = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
    return faultsOf(folder, [file], imports)
  }

  it("refuses a file outside all rooms", () => {
    assert.match(whole("nowhere/a.ts", "export const nothing = 0").join("\n"), /^nowhere\/a\.ts: it lies in no room/u)
  })

  it("refuses a file that does not parse", () => {
    assert.match(whole("libs/bus/broken.ts", "export const = 1").join("\n"), /^libs\/bus\/broken\.ts: /u)
  })
})

describe("the table of rooms", () => {
  it("names only existing folders of this tree", () => {
    for (const [room, { knows }] of Object.entries(rooms)) {
      assert.isTrue(existsSync(room), room)
      for (const known of knows) assert.include(names, known, `${room} knows ${known}`)
    }
  })

  it("has no cycle: of two rooms at most one imports the other, over any number of steps", () => {
    const reach = (from: string, seen = new Set<string>()): Set<string> => {
      for (const next of rooms[from]?.knows ?? []) if (!seen.has(next)) reach(next, seen.add(next))
      return seen
    }
    for (const room of names) assert.isFalse(reach(room).has(room), room)
  })

  it("equals the table in docs/architecture.md", () => {
    const page = readFileSync("docs/architecture.md", "utf8")
    assert.include(page, roomTable(imports), "print the new one with: node dev/fence/main.ts table")
  })
})
