import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { inTurn, longFiles } from "../../dev/test-order.ts"

const root = join(import.meta.dirname, "../..")
const [longest = "", long = ""] = longFiles.filter((path) => path.endsWith(".integration.test.ts"))

const placed = (path: string, group = 1, project = "processes") => ({ path: `/tree/${path}`, group, project })
const order = (files: ReadonlyArray<ReturnType<typeof placed>>) =>
  inTurn(files, (file) => file).map((file) => files.indexOf(file))

describe("the order of test files", () => {
  it("spreads the long files among the others, the longest first, and ends with short ones", () => {
    const short = Array.from({ length: 7 }, (_, index) => `test/${index}.integration.test.ts`)
    const files = [...short, long, longest].map((path) => placed(path))
    assert.deepStrictEqual(order(files), [8, 0, 1, 2, 7, 3, 4, 5, 6])
  })

  it("gives the rings of a project turns in proportion to their files", () => {
    const integration = Array.from({ length: 6 }, (_, index) => placed(`test/${index}.integration.test.ts`))
    const fleets = Array.from({ length: 2 }, (_, index) => placed(`test/${index}.fleet.test.ts`))
    assert.deepStrictEqual(order([...integration, ...fleets]), [0, 6, 1, 2, 3, 7, 4, 5])
  })

  it("keeps projects and groups apart", () => {
    const files = [
      placed("test/a.fleet.test.ts"),
      placed("test/a.containers.test.ts", 1, "containers"),
      placed("test/b.fleet.test.ts"),
      placed("test/c.fleet.test.ts", 2, "processes-alone"),
      placed("test/d.fleet.test.ts")
    ]
    assert.deepStrictEqual(order(files), [0, 2, 4, 1, 3])
  })

  it("names only files that there are", () => {
    for (const path of longFiles) assert.isTrue(existsSync(join(root, path)), path)
  })
})
