/** The fence on every pair of rooms, by name and by path, and on every package. */
import { posix } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { roomOf, rooms } from "../../../dev/fence/rooms.ts"
import { dependencies, devDependencies, imports, judged, names } from "./trial.ts"

const bare = (path: string) => path.replace(/^\.\//u, "").replace("*", "bus")
const entrancesOf = (room: string) =>
  Object.entries(imports)
    .filter(([, target]) => roomOf(bare(target)) === room)
    .map(([name]) => name.replace("*", "bus"))
const pathTo = (from: string, to: string) => {
  const path = posix.relative(from, to)
  return path.startsWith(".") ? path : `./${path}`
}

describe("the fence between rooms", () => {
  const others = (room: string) => names.filter((name) => name !== room)
  const byName = (from: string) => others(from).flatMap((to) => entrancesOf(to).map((name) => ({ to, name })))
  const packages = [
    ...Object.keys(dependencies),
    ...Object.keys(devDependencies),
    "effect/http",
    "node:fs",
    "node:module"
  ]
  let told: ReturnType<typeof judged>
  beforeAll(() => {
    const statements = names.flatMap((from): ReadonlyArray<[string, ReadonlyArray<string>]> => [
      [`${from}/by-name.ts`, byName(from).map(({ name }) => `import type { Trial } from "${name}"`)],
      [`${from}/by-path.ts`, others(from).map((to) => `export * from "${pathTo(from, `${to}/index.ts`)}"`)],
      [`${from}/packages.ts`, packages.map((name) => `import type { Trial } from "${name}"`)]
    ])
    told = judged(new Map(statements))
  })

  it.each(names)("lets %s import by name only the rooms of its row in the table", (from) => {
    const { looksInside = false, knows = [] } = rooms[from] ?? {}
    assert.isAbove(byName(from).length, 30)
    for (const [index, { to, name }] of byName(from).entries()) {
      const found = told(`${from}/by-name.ts`, index + 1)
      assert.lengthOf(found, looksInside || knows.includes(to) ? 0 : 1, `${from} imports ${name}: ${found}`)
    }
  })

  it.each(names)("lets %s import no other room by a path, except from tests", (from) => {
    for (const [index, to] of others(from).entries()) {
      const found = told(`${from}/by-path.ts`, index + 1)
      assert.lengthOf(found, from === "test" ? 0 : 1, `${from} reaches into ${to}: ${found}`)
    }
  })

  it.each(names)("lets %s use only the packages of its row in the table", (from) => {
    const { packages: own = [], isPure = false, looksInside = false } = rooms[from] ?? {}
    for (const [index, name] of packages.entries()) {
      const isListed = own.some((one) => (one.endsWith("/*") ? name.startsWith(one.slice(0, -1)) : one === name))
      const isCommon = name === "effect" || (name === "node:fs" && !isPure)
      const found = told(`${from}/packages.ts`, index + 1)
      assert.lengthOf(found, looksInside || isListed || isCommon ? 0 : 1, `${from} uses ${name}: ${found}`)
    }
  })
})
