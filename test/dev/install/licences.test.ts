import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"

interface Locked {
  readonly license?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
}

const lock = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, Locked>>
}
const packages = Object.entries(lock.packages).flatMap(([path, { license, dev, devOptional }]) =>
  path === ""
    ? []
    : [{ name: path.split("node_modules/").at(-1) ?? path, license, isCarried: dev !== true && devOptional !== true }]
)

/** Packages in the images: none demands more than its text beside it. */
const permissive = ["MIT", "Apache-2.0", "BSD-2-Clause", "ISC", "Unlicense"]
/** Packages of tests and checks beside those; none is distributed. */
const forTests = [
  ...permissive,
  "BSD-3-Clause",
  "0BSD",
  "BlueOak-1.0.0",
  "MPL-2.0",
  "LGPL-3.0-only",
  "Python-2.0",
  "CC0-1.0",
  "Public Domain"
]
const eitherOf = ["MIT OR Apache-2.0", "(MIT OR CC0-1.0)", "(AFL-2.1 OR BSD-3-Clause)"]

/** Licences that the lock file lacks, read in the packages themselves. The first states none: only tests call it. */
const unsaid: Readonly<Record<string, string>> = {
  "@speechify/api": "none",
  buildcheck: "MIT",
  "cpu-features": "MIT",
  eyes: "MIT",
  memorystream: "MIT",
  ssh2: "MIT",
  "text-encoding-utf-8": "Unlicense",
  "valid-url": "MIT"
}

describe("licences", () => {
  it("of all shipped packages are permissive", () => {
    const carried = packages.filter(({ isCarried }) => isCarried)

    assert.isAbove(carried.length, 30)
    assert.deepStrictEqual(
      carried.filter(({ name, license }) => !permissive.includes(license ?? unsaid[name] ?? "")),
      []
    )
  })

  it("of all other packages are known", () => {
    const unknown = packages.filter(
      ({ name, license }) => ![...forTests, ...eitherOf].includes(license ?? "") && !Object.hasOwn(unsaid, name)
    )

    assert.deepStrictEqual(unknown, [])
  })
})
