import { assert, describe, it } from "@effect/vitest"
import { counted, sumOf, walked } from "../../../load-tests/walks/walk.ts"

const ran = (file: string, functionName: string, count: number, startOffset = 10) => ({
  url: `file:///tree/${file}`,
  functions: [{ functionName, ranges: [{ startOffset, count }] }]
})

const once = { calls: 24, longer: 1 }

describe("the walk of a call", () => {
  it("is the files in which a function ran for each of the calls, beyond what runs without any", () => {
    const idle = counted([ran("libs/a.ts", "beat", 30), ran("services/b.ts", "serve", 0)], "file:///tree/")
    const busy = counted(
      [ran("libs/a.ts", "beat", 62), ran("services/b.ts", "serve", 24), ran("services/c.ts", "once", 1)],
      "file:///tree/"
    )
    assert.deepStrictEqual(walked(idle, busy, once), ["services/b.ts"])
  })

  it("knows a function by its place, over all processes", () => {
    const one = counted([ran("libs/a.ts", "", 12, 5)], "file:///tree/")
    const other = counted([ran("libs/a.ts", "", 12, 5), ran("libs/a.ts", "", 3, 9)], "file:///tree/")
    assert.deepStrictEqual(walked(new Map(), sumOf([one, other]), once), ["libs/a.ts"])
    assert.deepStrictEqual(walked(new Map(), other, { calls: 24, longer: 1 }), [])
  })

  it("takes a step that a few of the calls shared, and leaves out what a longer round ran more often", () => {
    const idle = counted([ran("libs/a.ts", "beat", 12)], "file:///tree/")
    const busy = counted([ran("libs/a.ts", "beat", 60), ran("libs/b.ts", "write", 18)], "file:///tree/")
    assert.deepStrictEqual(walked(idle, busy, { calls: 24, longer: 4 }), ["libs/b.ts"])
  })

  it("leaves out what runs when a file is loaded, and code of others", () => {
    const busy = counted(
      [
        ran("libs/a.ts", "", 24, 0),
        ran("node_modules/effect/index.ts", "run", 24),
        ran("dev/chain/main.ts", "mine", 24)
      ],
      "file:///tree/"
    )
    assert.deepStrictEqual(walked(new Map(), busy, once), [])
  })
})
