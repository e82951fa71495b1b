import { assert, describe, it } from "@effect/vitest"
import { importGraph } from "../../../dev/mutants/import-graph.ts"
import { projectOf, testsOf, unaskedOf } from "../../../dev/mutants/test-choice.ts"

const files = new Map([
  ["libs/bus/index.ts", 'export { one } from "./one.ts"\nexport * from "./two.ts"'],
  ["libs/bus/one.ts", 'import { three } from "./three.ts"\nexport const one = three'],
  ["libs/bus/two.ts", "export const two = 2"],
  ["libs/bus/three.ts", "export const three = 3\nexport type Three = 3"],
  ["services/a/role.ts", 'import { one } from "#bus"\nexport const role = one'],
  ["test/bus/one.test.ts", 'import { one } from "../../libs/bus/one.ts"'],
  ["test/bus/two.test.ts", 'import { two } from "#bus"'],
  ["test/bus/three.test.ts", 'import type { Three } from "../../libs/bus/three.ts"'],
  ["test/bus/all.integration.test.ts", 'import * as all from "#bus"'],
  ["test/a/role.test.ts", 'const { role } = await import("../../services/a/role.ts")'],
  ["test/a/role.thorough.test.ts", 'import { role } from "../../services/a/role.ts"'],
  ["test/a/role.fleet.test.ts", 'import { role } from "../../services/a/role.ts"']
])
const graph = importGraph(files, { "#bus": "./libs/bus/index.ts" })
const choice = { projects: ["unit", "thorough", "processes"], testsMax: () => 10, tookMs: new Map<string, number>() }
const chosen = (file: string, of = {}) => testsOf(graph, file, { ...choice, ...of }).map(({ path }) => path)

describe("the tests of a file", () => {
  it("are those that use a name of it, the nearest first, project by project", () => {
    assert.deepStrictEqual(chosen("libs/bus/one.ts"), [
      "test/bus/one.test.ts",
      "test/a/role.test.ts",
      "test/a/role.thorough.test.ts",
      "test/bus/all.integration.test.ts"
    ])
  })

  it("are found through a file that passes names on, which leads to no other name", () => {
    assert.deepStrictEqual(chosen("libs/bus/two.ts"), ["test/bus/two.test.ts", "test/bus/all.integration.test.ts"])
  })

  it("are not those that take its types alone", () => {
    assert.notInclude(chosen("libs/bus/three.ts"), "test/bus/three.test.ts")
  })

  it("come quickest first among equally near ones, as many as are asked for", () => {
    const files = ["a", "b", "c"].map((name) => [`test/${name}.test.ts`, 'import { a } from "../libs/a.ts"'] as const)
    const graph = importGraph(new Map([["libs/a.ts", "export const a = 1"], ...files]), {})
    const tookMs = new Map([
      ["test/a.test.ts", 30],
      ["test/b.test.ts", 10],
      ["test/c.test.ts", 20]
    ])
    const found = testsOf(graph, "libs/a.ts", { ...choice, testsMax: () => 2, tookMs })
    assert.deepStrictEqual(
      found.map(({ path }) => path),
      ["test/b.test.ts", "test/c.test.ts"]
    )
  })

  it("that were not asked are those of other projects that use the file itself", () => {
    const names = ["a.test.ts", "a.integration.test.ts", "b.fleet.test.ts", "c.thorough.test.ts"]
    const files = names.map((name) => [`test/${name}`, 'import { a } from "../libs/a.ts"'] as const)
    const far = ["test/far.integration.test.ts", 'import { b } from "../libs/b.ts"'] as const
    const b = ["libs/b.ts", 'import { a } from "./a.ts"\nexport const b = a'] as const
    const graph = importGraph(new Map([["libs/a.ts", "export const a = 1"], b, far, ...files]), {})
    assert.strictEqual(unaskedOf(graph, "libs/a.ts", ["unit"]), 2)
    assert.strictEqual(unaskedOf(graph, "libs/a.ts", ["unit", "thorough", "processes"]), 0)
  })

  it("are of the projects whose tests run in one process", () => {
    assert.deepStrictEqual(
      ["a.test.ts", "a.thorough.test.ts", "a.integration.test.ts", "a.fleet.test.ts", "a.ts"].map((name) =>
        projectOf(`test/libs/${name}`)
      ),
      ["unit", "thorough", "processes", undefined, undefined]
    )
    assert.deepStrictEqual(chosen("libs/bus/one.ts", { projects: ["thorough"] }), ["test/a/role.thorough.test.ts"])
  })
})

describe("the files that load a file", () => {
  it("are loaded again with it, also those that only pass names on", () => {
    assert.sameMembers(
      [...graph.loadersOf("libs/bus/two.ts")],
      [
        "libs/bus/index.ts",
        "services/a/role.ts",
        "test/bus/two.test.ts",
        "test/bus/all.integration.test.ts",
        "test/a/role.test.ts",
        "test/a/role.thorough.test.ts",
        "test/a/role.fleet.test.ts"
      ]
    )
  })
})
