import { assert, describe, it } from "@effect/vitest"
import { type Edge, folderCircles } from "../../../dev/fence/folder-circles.ts"

const cases: ReadonlyArray<{
  name: string
  edges: ReadonlyArray<Edge>
  circles: ReadonlyArray<ReadonlyArray<string>>
}> = [
  { name: "none in one direction", edges: [["a/b/x.ts", "a/c/y.ts"]], circles: [] },
  {
    name: "two neighbours that import each other by different files",
    edges: [
      ["a/b/x.ts", "a/c/y.ts"],
      ["a/c/z.ts", "a/b/w.ts"]
    ],
    circles: [["a/b", "a/c", "a/b"]]
  },
  {
    name: "three neighbours in turn, from deep inside",
    edges: [
      ["a/b/deep/x.ts", "a/c/y.ts"],
      ["a/c/y.ts", "a/d/y.ts"],
      ["a/d/deep/er/y.ts", "a/b/y.ts"]
    ],
    circles: [["a/b", "a/c", "a/d", "a/b"]]
  },
  {
    name: "folders of different parents, told where the parents part",
    edges: [
      ["dev/chain/x.ts", "services/fleet/y.ts"],
      ["services/fleet/y.ts", "dev/upstream/y.ts"]
    ],
    circles: [["dev", "services", "dev"]]
  },
  {
    name: "none between a folder and the files beside it",
    edges: [
      ["a/layer.ts", "a/voices/x.ts"],
      ["a/voices/x.ts", "a/errors.ts"]
    ],
    circles: []
  },
  {
    name: "two circles apart",
    edges: [
      ["a/b/x.ts", "a/c/y.ts"],
      ["a/c/y.ts", "a/b/x.ts"],
      ["a/d/x.ts", "a/e/y.ts"],
      ["a/e/y.ts", "a/d/x.ts"],
      ["a/b/x.ts", "a/d/x.ts"]
    ],
    circles: [
      ["a/b", "a/c", "a/b"],
      ["a/d", "a/e", "a/d"]
    ]
  }
]

describe("cycles between folders", () => {
  it.each(cases)("are found: $name", ({ edges, circles }) => {
    assert.deepStrictEqual(folderCircles(edges), circles)
  })
})
