import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { longestFirst, longFiles } from "../../dev/test-order.ts"

const root = join(import.meta.dirname, "../..")
const [long = "", longer = ""] = longFiles.filter((path) => path.endsWith(".integration.test.ts"))

describe("the order of test files", () => {
  it("begins each project with its long files, and keeps groups, projects and all other files as they were", () => {
    const files = [
      { path: "/tree/test/fleet/a.fleet.test.ts", group: 1, project: "fleet" },
      { path: "/tree/test/libs/a.integration.test.ts", group: 1, project: "integration" },
      { path: `/tree/${longer}`, group: 1, project: "integration" },
      { path: "/tree/test/libs/b.integration.test.ts", group: 1, project: "integration" },
      { path: `/tree/${long}`, group: 1, project: "integration" },
      { path: "/tree/test/fleet/b.fleet.test.ts", group: 2, project: "fleet-alone" }
    ]
    assert.deepStrictEqual(
      longestFirst(files, (file) => file),
      [0, 2, 4, 1, 3, 5].map((index) => files[index] as (typeof files)[number])
    )
  })

  it("names only files that there are", () => {
    for (const path of longFiles) assert.isTrue(existsSync(join(root, path)), path)
  })
})
