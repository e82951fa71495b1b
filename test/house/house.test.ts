import { execFileSync } from "node:child_process"
import { globSync, readFileSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { roleNames } from "#base"
import { portraitBytesMax, portraits } from "../support/page-pictures.ts"

const sources = globSync(["libs/**/*.ts", "services/**/*.ts", "dev/**/*.ts"])

/** The packages that the design names. */
const designed = [
  "effect",
  "@effect/platform-node",
  "@effect/schema",
  "nats",
  "fluent-ffmpeg",
  "prom-client",
  "testcontainers",
  "vitest"
]

const pages = globSync("**/*.md", { exclude: (path) => /node_modules|\.starling/u.test(path) })

/** Without code, in which brackets are no links. */
const proseOf = (page: string) =>
  readFileSync(page, "utf8")
    .replaceAll(/^```[\s\S]*?^```/gmu, "")
    .replaceAll(/`[^`\n]*`/gu, "")

/** What a clone of the repository has: a file that git passes over is only here. */
const tracked = new Set(execFileSync("git", ["ls-files"], { encoding: "utf8" }).trimEnd().split("\n"))
const folders = new Set(
  [...tracked].flatMap((path) => path.split("/").map((_, depth, parts) => parts.slice(0, depth).join("/")))
)
const isTracked = (path: string) => tracked.has(path) || folders.has(path.replace(/\/$/u, ""))

/** Links and images, with the path that each is to. */
const linksOf = (page: string) =>
  [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/gu)].flatMap(([, to = ""]) => {
    if (/^[a-z]+:/u.test(to)) return []
    const [path = "", heading] = to.split("#")
    return [{ to, target: path === "" ? page : join(dirname(page), path), heading }]
  })

const headingsOf = (page: string) =>
  [...readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gmu)].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-")
  )

describe("the house", () => {
  it("begins every file with a comment that says what it is", () => {
    for (const path of sources) assert.isTrue(readFileSync(path, "utf8").startsWith("/**"), path)
  })

  it("gives every role a row in the architecture's table", () => {
    const page = readFileSync("docs/architecture.md", "utf8")
    for (const role of roleNames) assert.include(page, `\n| ${role} |`)
  })

  it("names every page in docs/README.md", () => {
    const map = readFileSync("docs/README.md", "utf8")
    for (const page of globSync("docs/*.{md,json}").map((path) => basename(path))) {
      if (page !== "README.md") assert.include(map, `](${page})`)
    }
  })

  it("shows pictures of the console that a page loads quickly", () => {
    const paths = portraits.map((name) => `docs/pictures/${name}.webp`)
    const shown = (page: string) =>
      linksOf(page).flatMap(({ target }) => (target.startsWith("docs/pictures/") ? [target] : []))
    assert.sameMembers(shown("docs/console.md"), paths)
    assert.lengthOf(shown("README.md"), 1)
    for (const path of paths) assert.isAtMost(statSync(path).size, portraitBytesMax, path)
  })

  it("says in its first lines what it looks like", () => {
    const lines = readFileSync("README.md", "utf8").split("\n").slice(0, 10)
    assert.isTrue(lines.some((line) => /^!\[.+\]\(docs\/pictures\/.+\.webp\)$/u.test(line)))
  })

  it("says where each package of the design stands", () => {
    const [, table = ""] = readFileSync("docs/architecture.md", "utf8").split("\n## Packages\n")
    for (const name of designed) assert.match(table, new RegExp(`^\\| (?:[^|]*, )?${name}(?: \\d|,| \\|)`, "mu"), name)
  })

  it("links only to files that git tracks, and to existing headings", () => {
    for (const page of pages) {
      for (const { to, target, heading } of linksOf(page)) {
        assert.isTrue(isTracked(target), `${page}: ${to}`)
        if (heading !== undefined) assert.include(headingsOf(target), heading, `${page}: ${to}`)
      }
    }
  })

  it("has a licence, and says which", () => {
    const { license } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly license: string }
    assert.strictEqual(license, "Apache-2.0")
    assert.match(
      readFileSync("LICENSE", "utf8"),
      /Apache License\s+Version 2\.0[\s\S]+Copyright 2026 The Starling Authors/u
    )
    assert.include(
      linksOf("README.md").map(({ target }) => target),
      "LICENSE"
    )
  })
})
