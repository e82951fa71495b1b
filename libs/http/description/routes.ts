/** The routes by which an API describes itself: a document for machines, and a page. Both are public. */
import { Effect } from "effect"
import { DescriptionGroup } from "#base/http"
import { bytesAnswer } from "../answers.ts"
import { route } from "../listener/routes.ts"
import type { apiDocuments } from "./documents.ts"
import { anchorOf } from "./page.ts"

export const descriptionRoutes = ({ openApi, servedPage }: ReturnType<typeof apiDocuments>) => {
  const { getDescription, getReference } = DescriptionGroup.endpoints
  const describe = madeOnce("application/json", () => JSON.stringify(openApi()))
  const headers = { "content-security-policy": pagePolicy }
  const reference = madeOnce("text/html; charset=utf-8", () => htmlPage(servedPage()), headers)
  return [
    route(getDescription.method, getDescription.path, describe),
    route(getReference.method, getReference.path, reference)
  ] as const
}

/** An answer that is produced on the first request for it. */
const madeOnce = (contentType: string, make: () => string, headers: Readonly<Record<string, string>> = {}) => {
  let made: Uint8Array | undefined
  return Effect.sync(() => {
    made ??= new TextEncoder().encode(make())
    return bytesAnswer(made, contentType, { headers })
  })
}

/** The content security policy of such a page. */
const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * One of our pages as HTML, without scripts or anything to load. `markdown`: headings, paragraphs, tables and code,
 * separated by empty lines; links and `code` within a line. Pure.
 */
export const htmlPage = (markdown: string): string => {
  const blocks = markdown.split(/\n{2,}/u).filter((block) => block.trim() !== "")
  const title = blocks.find((block) => block.startsWith("# "))?.slice(2) ?? "API"
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
<main>
${blocks.map(blockOf).join("\n")}
</main>
</html>
`
}

const style =
  "body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1c1c1c;background:#fff}" +
  "main{max-width:64rem;margin:0 auto;padding:1.5rem}h2{margin-top:3rem;border-top:1px solid #ddd;padding-top:1rem}" +
  "table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{border:1px solid #ddd;padding:.3rem .5rem;" +
  "text-align:left;vertical-align:top;overflow-wrap:anywhere}code,pre{font-family:ui-monospace,monospace;" +
  "background:#f4f4f4;border-radius:3px}code{padding:0 .2rem}pre{padding:.8rem;overflow-x:auto}pre code{padding:0}" +
  "@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}code,pre{background:#262626}" +
  "th,td,h2{border-color:#444}a{color:#8ab4f8}}"

const blockOf = (block: string): string => {
  const heading = /^(#{1,6}) (.+)$/u.exec(block)
  if (heading !== null) {
    const [, marks = "", text = ""] = heading
    return `<h${marks.length} id="${anchorOf(text)}">${inline(text)}</h${marks.length}>`
  }
  const code = /^```\w*\n([\s\S]*)\n```$/u.exec(block)
  if (code !== null) return `<pre><code>${escaped(code[1] ?? "")}</code></pre>`
  return block.startsWith("| ") ? tableOf(block) : `<p>${inline(block)}</p>`
}

const tableOf = (block: string) => {
  const [head = [], , ...rows] = block.split("\n").map(cellsOf)
  const row = (cells: ReadonlyArray<string>, tag: "td" | "th") =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join("")}</tr>`
  return `<table><thead>${row(head, "th")}</thead><tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody></table>`
}

const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .slice(2, -2)
    .split(/(?<!\\) \| /u)
    .map((cell) => cell.replaceAll("\\|", "|"))

/** Text in `code` stays as it is; elsewhere, links are made. */
const inline = (text: string): string =>
  text
    .split(/(`[^`]+`)/u)
    .map((part) => (/^`[^`]+`$/u.test(part) ? `<code>${escaped(part.slice(1, -1))}</code>` : linked(escaped(part))))
    .join("")

const linked = (text: string) => text.replaceAll(/\[([^[\]]+)\]\(([^()\s]+)\)/gu, '<a href="$2">$1</a>')

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** `page`: the reference, in Markdown. */
