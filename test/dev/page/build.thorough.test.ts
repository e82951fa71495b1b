import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { buildPage, buildPageOnce } from "../../../dev/page/build.ts"

const home = mkdtempSync(join(tmpdir(), "starling-page-"))
const folder = join(home, "page")
afterAll(() => rmSync(home, { recursive: true }))

describe("the page as it is built", () => {
  let built: Awaited<ReturnType<typeof buildPage>>
  beforeAll(async () => {
    built = await buildPage(folder)
  })
  const index = () => readFileSync(join(folder, "index.html"), "utf8")

  it("shows itself after at most 200 kB", () => {
    assert.isBelow(built.firstLoadBytes, 200_000)
    // React alone is more.
    assert.isAbove(built.firstLoadBytes, 60_000)
  })

  it("names only files that are there, each by its content", () => {
    const named = [...index().matchAll(/(?:href|src)="\/(assets\/[^"]+)"/gu)].map(([, path = ""]) => path)
    assert.isAbove(named.length, 2)
    for (const path of named) {
      assert.match(path, /^assets\/[\w-]+-[A-Z0-9]{8}\.(?:js|css|svg)$/u)
      assert.isTrue(existsSync(join(folder, path)), path)
    }
  })

  it("has one script and no style in the page itself, and nothing of another host", () => {
    assert.lengthOf([...index().matchAll(/<script>/gu)], 1)
    assert.notMatch(index(), /<style|style="| on\w+="|<script(?!>| type="module" src="\/assets\/)/u)
    assert.notMatch(index(), /https?:/u)
  })

  it("has each file packed both ways", () => {
    const names = readdirSync(join(folder, "assets"))
    const plain = names.filter((name) => !/\.(?:gz|br)$/u.test(name))
    assert.lengthOf(names, 3 * plain.length)
    for (const name of plain) {
      const bytes = readFileSync(join(folder, "assets", name))
      assert.isTrue(gunzipSync(readFileSync(join(folder, "assets", `${name}.gz`))).equals(bytes), name)
    }
  })

  it("is built once, and again only after a change", async () => {
    const within = join(home, "cache")
    const first = await buildPageOnce(within)
    const stamp = () => statSync(join(first, "index.html")).mtimeMs
    const before = stamp()
    assert.strictEqual(await buildPageOnce(within), first)
    assert.strictEqual(stamp(), before)
  })

  it("leaves no older one behind", async () => {
    const within = join(home, "cache")
    const old = join(within, "0123456789abcdef")
    mkdirSync(old, { recursive: true })
    utimesSync(old, 0, 0)
    const kept = await buildPageOnce(within)
    rmSync(kept, { recursive: true })
    await buildPageOnce(within)
    assert.deepStrictEqual(readdirSync(within), [basename(kept)])
  })
})
