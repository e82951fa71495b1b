/** Text that is spoken while it comes, on a fleet with real engines: one timeline, cancels, limits, refusals, kills. */
import { connect } from "node:net"
import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { until } from "../../dev/fixtures/eventually.ts"
import { connectLive, heardIn, type LiveClient } from "../support/live.ts"
import { childrenOf } from "../support/speech-clients.ts"
import { faultsOfMarks, type SpeechFleet, startSpeechFleet, unmarked } from "../support/speech.ts"

let fleet: SpeechFleet
/** Says nothing while the other tests run, and answers pings, as clients do. */
let idle: LiveClient
let idleSinceMs: number

beforeAll(async () => {
  fleet = await startSpeechFleet({ SPEECH_API_ALLOWED_ORIGINS: '["https://app.example"]' })
  idle = await connectLive(fleet)
  idleSinceMs = performance.now()
})
afterAll(() => fleet.remove())

const othersConnected = async () =>
  (await fleet.metric("speech_live_connections")) - (idle.socket.readyState === idle.socket.OPEN ? 1 : 0)

const context = (context_id: string, output_format = "pcm_24000") =>
  ({ type: "context.start", context_id, voice_id: "henry", output_format }) as const
const said = (context_id: string, text: string) => ({ type: "text", context_id, text }) as const
const end = (context_id: string) => ({ type: "end", context_id }) as const

const tokensOf = (text: string) => text.match(/\s*\S+/gu) ?? []
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const isLast = (id: string) => (message: { readonly type: string; readonly context_id?: string }) =>
  ["done", "cancelled", "error"].includes(message.type) && message.context_id === id

/** Whole, on one timeline, each word once. */
const assertWhole = async (client: LiveClient, id: string, text: string) => {
  const done = await client.next(isLast(id))
  if (done.type !== "done") throw new Error(JSON.stringify(done))
  const { audio, marks } = heardIn(client, id)
  assert.deepInclude(done, { reason: "ended", text_end: text.length, billable_characters_count: text.length })
  assert.closeTo(audio.length / 48, done.audio_duration_ms, 0.1)
  assert.deepStrictEqual(faultsOfMarks([text], marks, done.audio_duration_ms), [])
  assert.strictEqual(unmarked(text, marks), "")
}

const text =
  "Good morning to you. The harbour wakes early, as Dr. Smith says; it is 3.5 miles away. And now, rest! 🙂 done."
const long = "The harbour wakes before the town does, and nobody minds the gulls. ".repeat(60)

describe("text spoken while it comes", () => {
  it("is one audio with one timeline, and marks that are slices of the whole text", async () => {
    const client = await connectLive(fleet)
    client.send(context("a"), ...tokensOf(text).map((token) => said("a", token)), end("a"))
    await assertWhole(client, "a", text)
    client.send({ type: "close" })
    assert.strictEqual((await client.closed).code, 1_000)
  })

  it.each([
    ["...", {}],
    ["?! — ", {}],
    ["🎉", { voice_id: "selma" }],
    ["🎉 ★. ♥!", { voice_id: "selma" }],
    ["<p>...</p>", { ssml: true }],
    ['<sub alias="...">a</sub>', { ssml: true }]
  ])("is a moment of silence that is not billed, where nobody says its signs: %j", async (text, more) => {
    const before = await fleet.metric("speech_characters_total")
    const client = await connectLive(fleet)
    client.send({ ...context("a"), ...more }, said("a", text), end("a"))
    const done = await client.next(isLast("a"))
    if (done.type !== "done") throw new Error(JSON.stringify(done))
    assert.strictEqual(done.billable_characters_count, 0)
    assert.isAtLeast(done.audio_duration_ms, 100)
    assert.isNotEmpty(heardIn(client, "a").audio)
    assert.isEmpty(heardIn(client, "a").marks)
    assert.strictEqual(await fleet.metric("speech_characters_total"), before)
    client.socket.close()
  })

  it.each([
    ["\u200b", {}],
    ["<speak/>", { ssml: true }],
    ['<mark name="a"/>', { ssml: true }]
  ])("ends well, without audio, where nothing is written: %j", async (text, more) => {
    const client = await connectLive(fleet)
    client.send({ ...context("a"), ...more }, said("a", text), end("a"))
    assert.deepInclude(await client.next(isLast("a")), { type: "done", billable_characters_count: 0 })
    assert.strictEqual(heardIn(client, "a").audio.length, 0)
    client.socket.close()
  })

  it("passes over what makes no sound between words, and ends well without any text", async () => {
    const client = await connectLive(fleet)
    const selma = (id: string) => ({ ...context(id), voice_id: "selma" })
    client.send(selma("a"), said("a", "Hello there, all of you. 🎉 "), said("a", "... And bye now."), end("a"))
    client.send(selma("b"), said("b", " "), said("b", "\n"), end("b"), selma("c"), end("c"))
    for (const id of ["a", "b", "c"]) assert.deepInclude(await client.next(isLast(id)), { type: "done" })
    client.socket.close()
  })

  it("may have elements of SSML, in whatever pieces they come, with marks at its own places", async () => {
    const ssml =
      '<speak>Good morning. <break time="700ms"/> I <prosody rate="slow">really mean</prosody> it &amp; more. Bye.</speak>'
    const lengths: Array<number> = []
    for (const text of [ssml, ssml.replace("700ms", "200ms")]) {
      for (const pieces of [[...text], tokensOf(text)]) {
        const client = await connectLive(fleet)
        client.send({ ...context("a"), ssml: true }, ...pieces.map((piece) => said("a", piece)), end("a"))
        const done = await client.next(isLast("a"))
        if (done.type !== "done") throw new Error(JSON.stringify(done))
        assert.strictEqual(done.text_end, text.length)
        const { marks } = heardIn(client, "a")
        assert.isTrue(marks.every(({ end: to, start, value }) => text.slice(start, to) === value))
        const values = marks.map(({ value }) => value)
        assert.deepStrictEqual(values, ["Good", "morning.", "I", "really", "mean", "it", "&amp;", "more.", "Bye."])
        lengths.push(done.audio_duration_ms)
        client.socket.close()
      }
    }
    // The same however it comes, and half a second shorter with a shorter pause.
    assert.strictEqual(lengths[0], lengths[1])
    assert.closeTo((lengths[0] ?? 0) - (lengths[2] ?? 0), 500, 30)
  })

  it("is silent for as long as a break asks that stands alone between two flushes, and its marks follow that", async () => {
    const client = await connectLive(fleet)
    const flush = (flush_id: string) => ({ type: "flush", context_id: "a", flush_id }) as const
    const flushed = async (id: string) => {
      const message = await client.next((one) => one.type === "flushed" && one.flush_id === id)
      return message.type === "flushed" ? message : assert.fail()
    }
    client.send({ ...context("a"), ssml: true }, said("a", "Hello."), flush("one"))
    const before = await flushed("one")
    const pauses = '<break time="1s"/>, <break time="500ms"></break>'
    client.send(said("a", pauses), flush("two"), said("a", '<break strength="none"/> ... '), flush("three"))
    const after = await flushed("two")
    assert.closeTo(after.audio_duration_ms - before.audio_duration_ms, 1_500, 1)
    assert.strictEqual(after.text_end, "Hello.".length + pauses.length)
    const { audio } = heardIn(client, "a")
    const [from, to] = [Math.ceil(before.audio_duration_ms * 48), Math.floor(after.audio_duration_ms * 48)]
    assert.isTrue(audio.subarray(from, to).every((byte) => byte === 0))
    assert.strictEqual((await flushed("three")).audio_duration_ms, after.audio_duration_ms)
    client.send(said("a", "Goodbye."), end("a"))
    const done = await client.next(isLast("a"))
    assert.deepInclude(done, { type: "done", reason: "ended" })
    const last = heardIn(client, "a").marks.at(-1)
    assert.strictEqual(last?.value, "Goodbye.")
    assert.isAtLeast(last?.start_time ?? 0, after.audio_duration_ms)
    client.socket.close()
  })

  it("is not taken where its SSML is faulty, and loses nothing of the rest", async () => {
    const client = await connectLive(fleet)
    client.send({ ...context("a"), ssml: true }, said("a", "Hello <emphasis>there"), said("a", " & you"))
    const faulty = await client.next(({ type }) => type === "error")
    assert.deepInclude(faulty, { is_final: false })
    assert.include(JSON.stringify(faulty), "& begins no entity that is known; write &amp;, at offset 22")
    client.send(end("a"))
    await client.next((message) => JSON.stringify(message).includes("what begins here is not ended, at offset 6"))
    client.send(said("a", "</emphasis>."), end("a"))
    const done = await client.next(({ type }) => type === "done")
    assert.deepInclude(done, { reason: "ended", text_end: 33 })
    client.send({ ...context("b"), ssml: true }, said("b", "Hello there. How <audio src='x'/> are you? "), end("b"))
    const unknown = await client.next((message) => isLast("b")(message) && message.type === "error")
    assert.deepInclude(unknown, { is_final: true })
    assert.match(JSON.stringify(unknown), /audio.*at offset 17/u)
    client.send(context("c"), said("c", "<speak>Hello.</speak>"), end("c"))
    const plain = await client.next((message) => isLast("c")(message))
    assert.include(JSON.stringify(plain), "a context that begins with `ssml`")
    client.send({ type: "close" })
    assert.strictEqual((await client.closed).code, 1_000)
  })

  it("is heard after its first clause, while the rest is still being written", async () => {
    const client = await connectLive(fleet)
    client.send(context("a"))
    let firstClauseAtMs = 0
    for (const token of tokensOf(text)) {
      client.send(said("a", token))
      if (token === " The") firstClauseAtMs = performance.now()
      await pause(33)
    }
    const lastTokenAtMs = performance.now()
    client.send(end("a"))
    await assertWhole(client, "a", text)
    const firstAudioAtMs = client.got.find(({ message }) => message.type === "audio")?.atMs ?? 0
    assert.isAbove(firstAudioAtMs, firstClauseAtMs)
    assert.isBelow(firstAudioAtMs, lastTokenAtMs)
    client.socket.close()
  })

  it("has a clause spoken that nobody ends, and answers a flush when all before it is sent", async () => {
    const client = await connectLive(fleet)
    client.send({ ...context("a"), max_wait_ms: 100 }, said("a", "It costs forty"))
    await client.next(({ type }) => type === "audio")
    client.send(said("a", " two."), { type: "flush", context_id: "a", flush_id: "one" })
    const flushed = await client.next(({ type }) => type === "flushed")
    assert.deepInclude(flushed, { flush_id: "one", text_end: "It costs forty two.".length })
    assert.deepInclude(
      heardIn(client, "a").marks.map(({ value }) => value),
      "two."
    )
    client.socket.close()
  })

  for (const format of ["mp3_24000_64", "ulaw_8000", "pcm_16000", "aac_24000"]) {
    it(`comes as ${format}, whose parts are joined`, async () => {
      const client = await connectLive(fleet)
      client.send(context("a", format), said("a", "One two three. Four five six."), end("a"))
      const done = await client.next(isLast("a"))
      assert.strictEqual(done.type, "done", JSON.stringify(done))
      assert.isAbove(heardIn(client, "a").audio.length, 5_000)
      client.socket.close()
    })
  }

  it("comes in several contexts at once, each on its own timeline", async () => {
    const client = await connectLive(fleet)
    const ids = ["a", "b", "c", "d"]
    client.send(...ids.map((id) => context(id)))
    for (const token of tokensOf(text)) client.send(...ids.map((id) => said(id, token)))
    client.send(...ids.map(end))
    for (const id of ids) await assertWhole(client, id, text)
    client.socket.close()
  })

  it("is silent after a cancel, which names the words that were heard", async () => {
    const client = await connectLive(fleet)
    client.send(context("a"), ...(long.match(/.{1,900}/gu) ?? []).map((piece) => said("a", piece)))
    await client.next(
      (message) => message.type === "marks" && message.speech_marks.some((mark) => mark.start_time > 1_000)
    )
    const askedAtMs = performance.now()
    client.send({ type: "cancel", context_id: "a", played_ms: 1_000 })
    const cancelled = await client.next(isLast("a"))
    if (cancelled.type !== "cancelled") throw new Error(JSON.stringify(cancelled))
    const heard = heardIn(client, "a").marks.filter(({ start_time }) => start_time < 1_000)
    assert.deepStrictEqual(cancelled.speech_marks, heard)
    assert.isAbove(heard.length, 1)
    assert.isBelow(cancelled.text_end, long.length)
    // Nothing of it comes after that, and its name is free again.
    client.send(context("a"), said("a", "Hello."), end("a"))
    const done = await client.next(({ type }) => type === "done")
    assert.deepInclude(done, { text_end: 6 })
    assert.isBelow(client.got.find(({ message }) => message.type === "cancelled")?.atMs ?? 0, askedAtMs + 2_000)
    client.socket.close()
  })
})

describe("a live connection", () => {
  it("answers each message that it cannot take with every fault, and continues", async () => {
    const client = await connectLive(fleet)
    client.socket.send("{")
    client.socket.send('{"type":"context.start","context_id":"","speed":9}')
    client.socket.send('{"type":"sing"}')
    client.send(
      said("none", "x"),
      { ...context("a"), voice_id: "nobody" },
      context("b", "ogg_24000"),
      context("c"),
      context("c")
    )
    client.send(said("c", "Hello."), end("c"), said("c", "more"))
    await client.next(({ type }) => type === "done")
    const errors = client.got.flatMap(({ message }) => (message.type === "error" ? [message] : []))
    assert.deepStrictEqual(
      errors.map(({ error, is_final }) => [error.code, is_final]),
      [
        ["bad_request", false],
        ["validation_failed", false],
        ["validation_failed", false],
        ["context_not_found", false],
        ["voice_not_found", false],
        ["validation_failed", false],
        ["context_open", false],
        ["context_ending", false]
      ]
    )
    assert.sameMembers(Object.keys(errors[1]?.error.fields ?? {}), ["context_id", "voice_id", "speed"])
    client.socket.close()
  })

  it("says that SSML is not read in a context of plain text, in one message or token by token", async () => {
    const client = await connectLive(fleet)
    const errorsOf = () => client.got.flatMap(({ message }) => (message.type === "error" ? [message] : []))
    client.send(context("a"), said("a", "<speak>Hello there.</speak>"), said("a", "Hello."), end("a"))
    assert.deepInclude(await client.next(({ type }) => type === "done"), { context_id: "a", text_end: 6 })
    client.send(context("b"), ...["<", "spe", "ak>", "Hello there. ", "</speak>"].map((token) => said("b", token)))
    await client.next(isLast("b"))
    assert.deepStrictEqual(
      errorsOf().map(({ context_id, error, is_final }) => [context_id, error.code, is_final]),
      [
        ["a", "validation_failed", false],
        ["b", "validation_failed", true]
      ]
    )
    for (const { error } of errorsOf()) assert.include(error.fields?.["text"], "POST /v1/audio/stream")
    // A tag in the middle of a text is text.
    client.send(context("c"), said("c", "Say the tag <speak> once."), end("c"))
    assert.deepInclude(await client.next(isLast("c")), { type: "done" })
    client.socket.close()
  })

  it("refuses before the handshake whom it does not know, and pages of elsewhere", async () => {
    const refused = (options: Partial<Parameters<typeof connectLive>[0]>) =>
      connectLive({ url: fleet.url, ...options }).then(
        ({ socket }) => {
          socket.close()
          return "accepted"
        },
        (error: Error) => error.message
      )
    assert.strictEqual(await refused({}), "refused with 401")
    assert.strictEqual(await refused({ token: "wrong" }), "refused with 401")
    assert.strictEqual(
      await refused({ token: fleet.token, headers: { origin: "https://evil.example" } }),
      "refused with 403"
    )
    assert.strictEqual(await refused({ token: fleet.token, headers: { origin: "https://app.example" } }), "accepted")
    const bare = await fetch(`${fleet.url}/v1/audio/live`, { headers: { authorization: `Bearer ${fleet.token}` } })
    assert.strictEqual(bare.status, 426)
    const page = await connectLive({ url: fleet.url, protocols: ["starling.speech.v1", `bearer.${fleet.token}`] })
    assert.strictEqual(page.socket.protocol, "starling.speech.v1")
    page.socket.close()
  })

  it("closes with the code that says why", async () => {
    const closedBy = async (act: (client: LiveClient) => void) => {
      const client = await connectLive(fleet)
      act(client)
      return (await client.closed).code
    }
    assert.strictEqual(await closedBy(({ socket }) => socket.send(Buffer.from("{}"))), 1_003)
    assert.strictEqual(
      await closedBy(({ socket }) => socket.send(Buffer.alloc(1_000_000, 0x20), { binary: false })),
      1_009
    )
    assert.strictEqual(
      await closedBy(({ socket }) => socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })),
      1_007
    )
    const flood = Array.from({ length: 4_000 }, () => ({ type: "keep_alive" }) as const)
    assert.strictEqual(await closedBy(({ send }) => send(...flood)), 1_008)
    await until(() => othersConnected(), { is: 0 })
    for (const code of ["1003", "1007", "1008", "1009"]) {
      await until(() => fleet.metric("speech_live_closes_total", `code="${code}"`), { is: 1 })
    }
  })

  it("holds no more than a bounded store for who does not read", async () => {
    const client = await connectLive(fleet)
    client.send(context("a"), ...(long.match(/.{1,900}/gu) ?? []).map((piece) => said("a", piece)))
    await client.next(({ type }) => type === "audio")
    client.socket.pause()
    const characters = () => fleet.metric("speech_spoken_seconds_total", 'format="pcm_24000"')
    let before = -1
    await until(async () => {
      const now = await characters()
      const isStill = now === before
      before = now
      await pause(300)
      return isStill
    })
    client.socket.resume()
    client.send(end("a"))
    await assertWhole(client, "a", long)
    client.socket.close()
  })

  it("leaves nothing behind of hundreds that come, speak and vanish", async () => {
    const come = async (nth: number) => {
      const client = await connectLive(fleet)
      client.send(context("a"), said("a", `Number ${nth} speaks. And says more than it waits for.`))
      await client.next(({ type }) => type === "started")
      client.socket.terminate()
    }
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 30 }, (_, nth) => come(30 * round + nth)))
    }
    await until(() => othersConnected(), { is: 0 })
    await until(() => fleet.metric("speech_streams_active"), { is: 0 })
    assert.isAtLeast(await fleet.metric("speech_live_contexts_total", 'outcome="left"'), 300)
    // Whoever vanishes sends no close frame.
    assert.isAtLeast(await fleet.metric("speech_live_closes_total", 'code="1006"'), 300)
  })

  it("takes no upgrade on other routes, and no frames before the handshake", async () => {
    const answer = (head: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(fleet.url).port), "127.0.0.1", () => socket.write(head))
        socket.once("data", (data) => {
          resolve(data.toString().split("\r\n")[0] ?? "")
          socket.destroy()
        })
      })
    const asks = `host: x\r\nauthorization: Bearer ${fleet.token}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n`
    const key = `sec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString("base64")}\r\n`
    assert.match(await answer(`GET /v1/audio/models HTTP/1.1\r\n${asks}${key}\r\n`), / 200 /u)
    assert.match(await answer(`GET /v1/audio/live HTTP/1.1\r\n${asks}\r\n`), / 4\d\d /u)
    assert.match(
      await answer(
        "POST /v1/audio/speech HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: h2c\r\ncontent-length: 0\r\n\r\n"
      ),
      / 401 /u
    )
  })

  it("continues when the synthesizer is killed in the middle of a dialogue", async () => {
    const client = await connectLive(fleet)
    const [synthesizer] = childrenOf(fleet.pid, "role speech-synthesizer")
    if (synthesizer === undefined) throw new Error("there is no synthesizer")
    const words = tokensOf("The harbour wakes early. Nobody minds the gulls. ".repeat(12).trim())
    client.send(context("a"))
    for (const [nth, token] of words.entries()) {
      client.send(said("a", token))
      if (nth === 40) process.kill(synthesizer.pid, "SIGKILL")
      await pause(20)
    }
    client.send(end("a"))
    await assertWhole(client, "a", words.join(""))
    client.socket.close()
  })

  it("is closed after a minute in which nothing was sent or spoken", async () => {
    assert.strictEqual((await idle.closed).code, 4_408)
    // Our clock began when the handshake had ended, and timers are rounded.
    assert.isAtLeast(performance.now() - idleSinceMs, 59_000)
    assert.strictEqual(await fleet.metric("speech_live_closes_total", 'code="4408"'), 1)
  })

  it("speaks what it holds when the process ends, and says where the text continues", async () => {
    const client = await connectLive(fleet)
    client.send(context("a"), said("a", "Good morning. And then"))
    await client.next(({ type }) => type === "audio")
    const stopped = fleet.stop("SIGTERM")
    const done = await client.next(isLast("a"))
    // The roles behind end with it here, so the rest may be left to another process.
    assert.deepInclude(done, { type: "done", reason: "shutdown" })
    const ends = ["Good morning. ", "Good morning. And then"].map(({ length }) => length)
    assert.include(ends, done.type === "done" ? done.text_end : -1)
    assert.strictEqual((await client.closed).code, 1_001)
    await stopped
  })
})
