import { execFileSync } from "node:child_process"
import { assert, it } from "@effect/vitest"
import { shellQuoted } from "../../../../page/design/shell-quoted.ts"
import { speechSnippets } from "../../../../page/screens/speech/snippets.ts"

it("quotes any text so that a shell reads it as one word", () => {
  const words = ["plain", "two words", "it's", `"$HOME" \`x\` \\`, "line\nbreak", ""]
  const said = execFileSync("sh", ["-c", `printf '%s\\0' ${words.map((word) => shellQuoted(word)).join(" ")}`])
  assert.deepStrictEqual(said.toString().split("\0"), [...words, ""])
})

it("writes the request of a text into curl, TypeScript and Python", () => {
  const request = { input: `it's "so"`, voice_id: "selma" }
  const snippets = speechSnippets({ kind: "text", hasMarks: true, request })
  assert.deepStrictEqual(
    snippets.map(({ title }) => title),
    ["curl", "TypeScript", "Python"]
  )
  for (const { code } of snippets) assert.include(code, "/v1/audio/stream")
})
