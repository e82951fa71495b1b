/** Lexicons of workspaces: stored over HTTP and by the command line, and heard on every route. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { starling } from "../../dev/fixtures/starling.ts"
import { connectLive, heardIn } from "../support/live.ts"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"

let fleet: SpeechFleet
let other: string
beforeAll(async () => {
  fleet = await startSpeechFleet({ SPEECH_API_LEXICONS_PER_WORKSPACE: "3", SPEECH_API_CACHE_MEGABYTES: "0" })
  other = await fleet.tokenOf("--workspace", "other", "--role", "owner")
})
afterAll(() => fleet.remove())

interface Told {
  readonly name?: string
  readonly format?: string
  readonly language?: string | null
  readonly words?: number
  readonly default?: boolean
  readonly content?: string
  readonly lexicons?: ReadonlyArray<{ readonly name: string }>
  readonly lexicons_max?: number
  readonly error?: { readonly code: string; readonly fields?: Readonly<Record<string, string>> }
}

const call = async (method: string, path: string, body?: unknown, token = fleet.token) => {
  const answer = await fetch(`${fleet.url}/v1/lexicons${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  return { status: answer.status, body: (text === "" ? {} : JSON.parse(text)) as Told }
}
const order = (input: string, changes: object = {}) => ({
  input,
  voice_id: "henry",
  output_format: "pcm_24000",
  ...changes
})
const heard = async (input: string, changes: object = {}) => {
  const answer = await fleet.post("/v1/audio/stream", order(input, changes))
  assert.strictEqual(answer.status, 200)
  return { etag: answer.headers.get("etag"), audio: Buffer.from(await answer.arrayBuffer()).toString("base64") }
}

describe("a lexicon", () => {
  it("is stored, listed, fetched and deleted, for its workspace alone", async () => {
    const content = "SQL = sequel\nNguyen /ˈŋwiən/\n"
    const stored = await call("PUT", "/names", { content })
    assert.strictEqual(stored.status, 200)
    assert.deepInclude(stored.body, { name: "names", format: "list", language: null, words: 2, default: false })
    const pls = `<lexicon version="1.0" alphabet="x-sampa" xml:lang="de-DE"><lexeme><grapheme>Chef</grapheme><phoneme>SEf</phoneme></lexeme></lexicon>`
    assert.deepInclude((await call("PUT", "/german", { content: pls, default: true })).body, {
      format: "pls",
      language: "de-DE",
      default: true
    })
    const { body } = await call("GET", "")
    assert.deepStrictEqual(
      body.lexicons?.map(({ name }) => name),
      ["german", "names"]
    )
    assert.strictEqual(body.lexicons_max, 3)
    assert.strictEqual((await call("GET", "/names")).body.content, content)
    assert.deepStrictEqual((await call("GET", "", undefined, other)).body.lexicons, [])
    assert.strictEqual((await call("GET", "/names", undefined, other)).status, 404)
    assert.strictEqual((await call("DELETE", "/names", undefined, other)).status, 404)
    for (const name of ["german", "names"]) assert.strictEqual((await call("DELETE", `/${name}`)).status, 204)
    const gone = await call("DELETE", "/names")
    assert.deepInclude(gone.body.error ?? {}, { code: "lexicon_not_found" })
  })

  it("is refused with the place of each fault, and changes nothing then", async () => {
    await call("PUT", "/kept", { content: "a = b" })
    for (const [name, content, fault] of [
      ["kept", "a = b\nwrong\nc /7/", "line 2: neither"],
      ["kept", "<lexicon><word/></lexicon>", "line 1: <word> is no element of <lexicon>"],
      ["kept", "", "it has no words"],
      ["kept", "x".repeat(100_001), "it has 100001 characters"]
    ] as const) {
      const { status, body } = await call("PUT", `/${name}`, { content })
      assert.strictEqual(status, 400, content.slice(0, 40))
      assert.include(body.error?.fields?.["content"] ?? "", fault)
    }
    assert.strictEqual((await call("PUT", "/bad%20name", { content: "a = b" })).body.error?.code, "validation_failed")
    assert.strictEqual((await call("GET", "/kept")).body.content, "a = b")
    for (const name of ["one", "two"])
      assert.strictEqual((await call("PUT", `/${name}`, { content: "a = b" })).status, 200)
    const full = await call("PUT", "/three", { content: "a = b" })
    assert.deepInclude(full.body.error ?? {}, { code: "too_many_lexicons", details: { lexicons_max: 3 } })
    assert.strictEqual((await call("PUT", "/two", { content: "a = c" })).status, 200)
    for (const name of ["kept", "one", "two"]) await call("DELETE", `/${name}`)
    const reader = await fleet.tokenOf("--kind", "service", "--scope", "voices:read")
    assert.strictEqual((await call("PUT", "/x", { content: "a = b" }, reader)).status, 403)
  })

  it("is heard where it is named, on every route, and the word keeps its mark", async () => {
    await call("PUT", "/names", { content: "SQL = sequel\nchurch /θˈɪŋ/\n" })
    const named = { lexicons: ["names"] }
    const [sequel, plain] = [await heard("I like sequel."), await heard("I like SQL.")]
    assert.strictEqual((await heard("I like SQL.", named)).audio, sequel.audio)
    assert.notStrictEqual(plain.audio, sequel.audio)
    assert.strictEqual((await heard("church", named)).audio, (await heard("thing")).audio)

    const whole = await fleet.speak(order("I like SQL.", named))
    assert.strictEqual(whole.audio_data, sequel.audio)
    const words = whole.speech_marks.chunks.flatMap(({ chunks }) => chunks)
    assert.deepStrictEqual(
      words.map(({ value, start, end }) => [value, start, end]),
      [
        ["I", 0, 1],
        ["like", 2, 6],
        ["SQL", 7, 10]
      ]
    )
    const client = await connectLive(fleet)
    client.send(
      { type: "context.start", context_id: "a", voice_id: "henry", output_format: "pcm_24000", lexicons: ["names"] },
      { type: "text", context_id: "a", text: "I like SQL." },
      { type: "end", context_id: "a" }
    )
    await client.next(({ type }) => type === "done")
    assert.strictEqual(heardIn(client, "a").audio.toString("base64"), sequel.audio)
    client.send({ type: "context.start", context_id: "b", voice_id: "henry", lexicons: ["none"] } as never)
    const refused = await client.next(({ type }) => type === "error")
    assert.include(JSON.stringify(refused), "no lexicon none")
    client.send({ type: "close" })
    const unknown = await fleet.post("/v1/audio/speech", order("SQL", { lexicons: ["none"] }))
    assert.strictEqual(unknown.status, 400)
    assert.include(await unknown.text(), "no lexicon none")
    await call("DELETE", "/names")
  })

  it("is used by default, changes the entity tag of texts with its words alone, and not for others", async () => {
    const [with0, without0] = [await heard("I like SQL."), await heard("I like it.")]
    await call("PUT", "/names", { content: "SQL = sequel", default: true })
    const [with1, without1] = [await heard("I like SQL."), await heard("I like it.")]
    assert.notStrictEqual(with1.etag, with0.etag)
    assert.strictEqual(without1.etag, without0.etag)
    assert.strictEqual((await heard("I like SQL.", { lexicons: [] })).etag, with0.etag)
    await call("PUT", "/names", { content: "SQL = squirrel", default: true })
    const with2 = await heard("I like SQL.")
    assert.notStrictEqual(with2.etag, with1.etag)
    assert.strictEqual(with2.audio, (await heard("I like squirrel.")).audio)
    const stranger = await fleet.post("/v1/audio/stream", order("I like SQL."), { authorization: `Bearer ${other}` })
    assert.strictEqual(Buffer.from(await stranger.arrayBuffer()).toString("base64"), with0.audio)
    await call("DELETE", "/names")
    assert.strictEqual((await heard("I like SQL.")).etag, with0.etag)
  })

  it("makes a text longer within a bound", async () => {
    await call("PUT", "/long", { content: `a = ${"b ".repeat(199)}b` })
    const answer = await fleet.post("/v1/audio/stream", order("a ".repeat(60), { lexicons: ["long"] }))
    assert.strictEqual(answer.status, 400)
    assert.include(await answer.text(), "they add 23940 characters to the text, 20000 at most")
    await call("DELETE", "/long")
  })

  it("is stored, listed, shown, spoken with and deleted by the command line", async () => {
    const path = join(fleet.home.folder, "names.txt")
    writeFileSync(path, "# ours\nSQL = sequel\n")
    const run = async (...parameters: ReadonlyArray<string>) => {
      const { code, out, error } = await starling(fleet.home, ...parameters)
      assert.strictEqual(code, 0, error)
      return `${out}${error}`
    }
    assert.include(await run("lexicons", "store", "names", path, "--default"), "stored names: 1 word")
    assert.match(await run("lexicons", "list"), /names\s+list\s+any\s+1\s+yes/u)
    assert.include(await run("lexicons", "list", "--json"), `"words":1`)
    assert.include(await run("lexicons", "show", "names"), "# ours\nSQL = sequel\n")
    const sound = join(fleet.home.folder, "said.pcm")
    await run("say", "I like SQL.", "--voice", "henry", "--lexicon", "names", "-o", sound, "--format", "pcm_24000")
    assert.strictEqual(readFileSync(sound).toString("base64"), (await heard("I like sequel.")).audio)
    assert.include(await run("lexicons", "delete", "names"), "deleted names")
    const { code, error } = await starling(fleet.home, "lexicons", "show", "names")
    assert.notStrictEqual(code, 0)
    assert.include(error, "no such lexicon")
  })
})
