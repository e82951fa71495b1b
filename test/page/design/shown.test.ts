import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildSync } from "esbuild"
import { describe, expect, it } from "vitest"
import { printable as printableOnTerminal } from "#base/printable"
import { printable } from "../../../page/design/shown.ts"

const hostile = "invoice\u202Egnp.exe\u2069\u0007"
const escaped = "invoice\\u202egnp.exe\\u2069\\u0007"

/** Every part of the design that shows a text from outside, by what it is here. */
const source = `
  import { renderToStaticMarkup } from "react-dom/server"
  import { Badge } from "./Badge.tsx"
  import { Clip } from "./Clip.tsx"
  import { Facts } from "./Facts.tsx"
  import { Head } from "./Head.tsx"
  import { Json } from "./Json.tsx"
  import { Table } from "./Table.tsx"

  const text = ${JSON.stringify(hostile)}
  const inCode = <code>{text}</code>
  const nested = <span>a <b>{text}</b></span>
  const first = (cell) => (
    <Table label="a" rows={[1]} keyOf={String} linkOf={() => "/"} columns={[{ title: "one", cell: () => cell }]} />
  )
  const other = (cell) => <Table label="a" rows={[1]} keyOf={String} columns={[{ title: "one", cell: () => cell }]} />
  const parts = {
    "a clip": <Clip text={text} />,
    "a long clip": <Clip text={text + " " + "x".repeat(40)} />,
    "a badge": <Badge tone="good">{text}</Badge>,
    "a head": <Head title={text} />,
    "a fact": <Facts facts={[["a", text]]} />,
    "a fact in code": <Facts facts={[["a", inCode]]} />,
    "a fact within others": <Facts facts={[["a", nested]]} />,
    "a row's link": first(text),
    "a row's link in code": first(inCode),
    "a row's link within others": first(nested),
    "a cell": other(text),
    "a cell in code": other(inCode),
    "a cell within others": other(nested),
    "a value of JSON": <Json value={{ a: text }} />,
    "a name of JSON": <Json value={{ [text]: 1 }} />
  }
  console.log(JSON.stringify(Object.entries(parts).map(([name, part]) => [name, renderToStaticMarkup(part)])))
`

// The page is bundled for browsers; here for Node, beside its packages.
const root = join(import.meta.dirname, "../../..")

const rendered = (): ReadonlyArray<readonly [name: string, markup: string]> => {
  mkdirSync(join(root, ".starling/cache"), { recursive: true })
  const folder = mkdtempSync(join(root, ".starling/cache/shown-"))
  try {
    const { outputFiles } = buildSync({
      stdin: { contents: source, loader: "tsx", resolveDir: join(root, "page/design") },
      bundle: true,
      packages: "external",
      format: "esm",
      jsx: "automatic",
      write: false
    })
    const path = join(folder, "parts.mjs")
    writeFileSync(path, outputFiles[0]?.text ?? "")
    const text = execFileSync(process.execPath, [path], { encoding: "utf8" })
    return JSON.parse(text) as ReadonlyArray<readonly [string, string]>
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("text from outside on the page", () => {
  it("is escaped exactly as on a terminal", () => {
    const texts = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code))
    expect(texts.filter((text) => printable(text) !== printableOnTerminal(text))).toEqual([])
    expect(printable("\u{1F600} ä")).toBe("\u{1F600} ä")
  })

  it.each(rendered())("shows what it holds, and obeys none of it, in %s", (_, markup) => {
    expect(markup).toContain(escaped)
    for (const character of ["\u202E", "\u2069", "\u0007"]) expect(markup).not.toContain(character)
  })
})
