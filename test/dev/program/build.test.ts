import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { undiciParts } from "../../../dev/program/build.ts"

const root = join(import.meta.dirname, "../../..")

/** The names that a source takes from undici at run time. */
const namesTaken = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/^import \{([^}]*)\} from "undici"/gmu)]
    .flatMap(([, names = ""]) => names.split(","))
    .map((name) => name.trim().split(" as ")[0] ?? "")
    .filter((name) => name !== "" && !name.startsWith("type "))

describe("the bundle of the program", () => {
  it("has of undici every name that a source imports, and no other", () => {
    const sources = globSync(
      ["libs", "services", "dev", "page"].map((folder) => `${folder}/**/*.ts`),
      { cwd: root }
    )
    const taken = sources.flatMap((path) => namesTaken(readFileSync(join(root, path), "utf8")))
    assert.deepStrictEqual([...new Set(taken)].toSorted(), Object.keys(undiciParts).toSorted())
  })
})
