/** The same speech as code to copy. The address and the token are the reader's own. */
import type { Snippet } from "../../design/snippet.ts"
import { shellQuoted } from "../../design/shell-quoted.ts"
import type { SpeechOrder } from "./order.ts"

export const speechSnippets = (order: SpeechOrder): ReadonlyArray<Snippet> => {
  const path = order.kind === "dialogue" ? "/v1/audio/dialogue" : "/v1/audio/stream"
  const request = { ...order.request, output_format: "mp3_24000_64" }
  const json = JSON.stringify(request, null, 2)
  const isOneAnswer = order.kind === "dialogue"
  return [
    { title: "curl", code: curl(path, JSON.stringify(request), isOneAnswer) },
    { title: "TypeScript", code: typeScript(path, json, isOneAnswer) },
    { title: "Python", code: python(path, JSON.stringify(request), isOneAnswer) }
  ]
}

const curl = (path: string, json: string, isOneAnswer: boolean) =>
  [
    `curl -sf "$SPEECH${path}" \\`,
    `  -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(json)} \\`,
    isOneAnswer ? `  | jq -r .audio_data | base64 -d >speech.mp3` : `  -o speech.mp3`
  ].join("\n")

const typeScript = (path: string, json: string, isOneAnswer: boolean) =>
  `import { writeFile } from "node:fs/promises"

const answer = await fetch(\`\${process.env.SPEECH}${path}\`, {
  method: "POST",
  headers: {
    authorization: \`Bearer \${process.env.TOKEN}\`,
    "content-type": "application/json"
  },
  body: JSON.stringify(${json.replaceAll("\n", "\n  ")})
})
if (!answer.ok) throw new Error(await answer.text())
${
  isOneAnswer
    ? `const { audio_data } = await answer.json()
await writeFile("speech.mp3", Buffer.from(audio_data, "base64"))`
    : `await writeFile("speech.mp3", answer.body)`
}`

const python = (path: string, json: string, isOneAnswer: boolean) =>
  `import ${isOneAnswer ? "base64, json" : "json"}, os, urllib.request

request = urllib.request.Request(
    os.environ["SPEECH"] + "${path}",
    data=json.dumps(json.loads(${JSON.stringify(json)})).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["TOKEN"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as answer, open("speech.mp3", "wb") as file:
    ${
      isOneAnswer
        ? `file.write(base64.b64decode(json.load(answer)["audio_data"]))`
        : `while part := answer.read(4096):
        file.write(part)`
    }`
