import { existsSync, globSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { roleNames } from "#contracts"
import { homePicture, pictures } from "../support/page-pictures.ts"

const sources = globSync(["libs/**/*.ts", "services/**/*.ts", "dev/**/*.ts"])

const pages = globSync("**/*.md", { exclude: (path) => /node_modules|\.starling/u.test(path) })

/** Without code, in which brackets are no links. */
const proseOf = (page: string) =>
  readFileSync(page, "utf8")
    .replaceAll(/^```[\s\S]*?^```/gmu, "")
    .replaceAll(/`[^`\n]*`/gu, "")

const pictured = new Set([homePicture, ...Object.values(pictures)].map((name) => `docs/screenshots/${name}.png`))

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

  it("shows a picture of each screen in docs/console.md", () => {
    const shown = [...proseOf("docs/console.md").matchAll(/\]\((screenshots\/[^()\s]+)\)/gu)]
    assert.sameMembers(
      shown.map(([, to = ""]) => join("docs", to)),
      [...pictured]
    )
  })

  it("links only to existing files and headings", () => {
    for (const page of pages) {
      for (const [, to = ""] of proseOf(page).matchAll(/\]\(([^()\s]+)\)/gu)) {
        if (/^[a-z]+:/u.test(to)) continue
        const [path = "", heading] = to.split("#")
        const target = path === "" ? page : join(dirname(page), path)
        // A story makes the pictures, and fails without one.
        if (pictured.has(target)) continue
        assert.isTrue(existsSync(target), `${page}: ${to}`)
        if (heading !== undefined) assert.include(headingsOf(target), heading, `${page}: ${to}`)
      }
    }
  })
})
