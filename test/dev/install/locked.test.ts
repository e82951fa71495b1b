import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { driftOf, type Lock, type Manifest, strayOf } from "../../../dev/install/locked.ts"

const root = join(import.meta.dirname, "../../..")
const read = <A>(path: string) => JSON.parse(readFileSync(join(root, path), "utf8")) as A

const manifest = { dependencies: { saxes: "6.0.0" }, devDependencies: { vite: "8.3.8" } }
const lock: Lock = {
  packages: {
    "": { ...manifest },
    "node_modules/saxes": { version: "6.0.0", integrity: "sha512-a" },
    "node_modules/vite": { version: "8.3.8", integrity: "sha512-b" },
    "node_modules/vite-linux": { version: "8.3.8", integrity: "sha512-c", optional: true, os: ["linux"] }
  }
}
const installed = (changes: Lock["packages"]): Lock => {
  const { "": _, ...packages } = lock.packages
  return { packages: { ...packages, ...changes } }
}

describe("a lock file", () => {
  it("belongs to this project's package.json, with a checksum for every package", () => {
    assert.deepStrictEqual(driftOf(read<Manifest>("package.json"), read<Lock>("package-lock.json")), [])
  })

  it.each([
    ["another version", { ...manifest, dependencies: { saxes: "6.0.1" } }, "saxes: package.json says 6.0.1"],
    ["one package more", { ...manifest, optionalDependencies: { koffi: "3.3.4" } }, "koffi: package.json says 3.3.4"],
    ["one package less", { dependencies: manifest.dependencies }, "vite: package.json says nothing"]
  ])("is refused when package.json asks for %s", (_, asked, fault) => {
    assert.include(driftOf(asked, lock).join("\n"), fault)
  })

  it("is refused when a package in it has no checksum", () => {
    const { version } = lock.packages["node_modules/saxes"] ?? {}
    const unsummed = { packages: { ...lock.packages, "node_modules/saxes": { version: version ?? "" } } }

    assert.deepStrictEqual(driftOf(manifest, unsummed), ["node_modules/saxes: is locked without a sum"])
  })
})

describe("the installed packages", () => {
  it("may equal the lock file, with this platform's binaries and without those of others", () => {
    const { "node_modules/vite-linux": _, ...rest } = installed({}).packages
    const mac = { version: "8.3.8", integrity: "sha512-d", optional: true, os: ["darwin"] }

    assert.deepStrictEqual(strayOf(lock, installed({})), [])
    assert.deepStrictEqual(strayOf(lock, { packages: { ...rest, "node_modules/vite-darwin": mac } }), [])
  })

  it.each([
    ["another version", { "node_modules/saxes": { version: "6.0.1", integrity: "sha512-a" } }, "6.0.1 is installed"],
    ["other bytes", { "node_modules/saxes": { version: "6.0.0", integrity: "sha512-x" } }, "by its sum"],
    ["a package that nobody locked", { "node_modules/left": { version: "1.0.0" } }, "is installed and not locked"]
  ])("are refused with %s", (_, changes, fault) => {
    assert.include(strayOf(lock, installed(changes)).join("\n"), fault)
  })

  it("are refused when one is missing", () => {
    const { "node_modules/vite": _, ...packages } = installed({}).packages
    assert.deepStrictEqual(strayOf(lock, { packages }), ["node_modules/vite: is locked and not installed"])
  })
})
