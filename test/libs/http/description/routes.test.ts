import { assert, describe, it } from "@effect/vitest"
import { fieldTable, table } from "#http"
import { htmlPage } from "../../../../libs/http/description/routes.ts"

const bodyOf = (markdown: string) => /<main>\n([\s\S]*)\n<\/main>/u.exec(htmlPage(markdown))?.[1]

describe("a documentation page as HTML", () => {
  it("has headings for all links within the page", () => {
    assert.strictEqual(
      bodyOf("# The API\n\nSee [GET /a](#get-an-a).\n\n## Get an a"),
      '<h1 id="the-api">The API</h1>\n<p>See <a href="#get-an-a">GET /a</a>.</p>\n<h2 id="get-an-a">Get an a</h2>'
    )
    assert.include(htmlPage("# The API"), "<title>The API</title>")
  })

  it("keeps code unchanged, and lets nothing become markup", () => {
    assert.strictEqual(
      bodyOf('`Bearer <token>` & "b" <script>\n\n```sh\ncurl "$A" \\\n  -d \'{"a":[1](2)}\'\n```'),
      "<p><code>Bearer &lt;token&gt;</code> &amp; &quot;b&quot; &lt;script&gt;</p>\n" +
        "<pre><code>curl &quot;$A&quot; \\\n  -d '{&quot;a&quot;:[1](2)}'</code></pre>"
    )
  })

  it("renders tables with empty cells and escaped bars", () => {
    assert.strictEqual(
      bodyOf(table(["field", ""], [["`a`", "b | c"]])),
      "<table><thead><tr><th>field</th><th></th></tr></thead><tbody>" +
        "<tr><td><code>a</code></td><td>b | c</td></tr></tbody></table>"
    )
    const fields = fieldTable({ properties: { a: { type: "string" } }, required: ["a"] })
    assert.include(bodyOf(fields), "<td><code>a</code></td><td>string</td><td>yes</td><td></td>")
  })
})
