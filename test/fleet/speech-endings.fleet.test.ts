/** How requests end: refused, heard after a wait, and with the end of the fleet. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { audioFormats } from "#speech/audio"
import { until } from "../../dev/fixtures/eventually.ts"
import { pauseMs } from "../containers/worker.ts"
import { isGone } from "../support/child-processes.ts"
import { diceOf, randomSsml } from "../support/random-ssml.ts"
import {
  faultsOfMarks,
  listener,
  type Refusal,
  type SpeechFleet,
  startSpeechFleet,
  unmarked
} from "../support/speech.ts"
import { decodedTogether, lengthMs } from "../support/speech-audio.ts"
import { childrenOf, listenSlowly, openStream } from "../support/speech-clients.ts"

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet()
})
afterAll(() => fleet.remove())

const speech = "/v1/audio/speech"
const stream = "/v1/audio/stream"
const timestamps = "/v1/audio/stream/with-timestamps"
const routes = [speech, stream, timestamps]
const order = (changes: Readonly<Record<string, unknown>> = {}) => ({ input: "Hello.", voice_id: "henry", ...changes })

/** The envelope is the same whatever was wrong. */
const refused = async (path: string, body: unknown, status: number, code: string) => {
  const refusal = await fleet.refusal(path, body)
  const shown = JSON.stringify(refusal).slice(0, 600)
  assert.strictEqual(refusal.status, status, shown)
  assert.strictEqual(refusal.error.code, code, shown)
  assert.isNotEmpty(refusal.error.message)
  assert.isNotEmpty(refusal.request_id)
  return refusal.error
}

const entities = [
  '<!DOCTYPE speak [<!ENTITY a "boom">',
  ...Array.from({ length: 10 }, (_, index) => `<!ENTITY a${index} "${`&a${index || ""};`.repeat(10)}">`),
  "]>"
].join("")

describe("unreadable input", () => {
  it.each([
    ["an element that is not closed", "<speak>Hello <p>world</speak>", 21],
    ["an attribute without quotes", "<speak><prosody rate=fast>x</prosody></speak>", 21],
    ["an entity that nobody knows", "<speak>Hello &nobody; world</speak>", 13],
    ["a second root", "<speak>One.</speak><speak>Two.</speak>", 19],
    ["an end in the middle", "<speak>Hello <brea", 18],
    ["an element of somebody else", "<speak>Hello <script>x</script></speak>", 13],
    ["audio, which would open a file", '<speak>Hello <audio src="/etc/passwd"/></speak>', 13],
    ["a break of no known length", '<speak>Hello <break time="a while"/>x</speak>', 13]
  ] as const)("gets 400 with its place: %s", async (_what, input, offset) => {
    for (const path of routes) {
      const { fields } = await refused(path, order({ input }), 400, "validation_failed")
      const at = Number(/offset (\d+)/u.exec(fields?.["input"] ?? "")?.[1] ?? Number.NaN)
      // To the element or the character that is wrong, whichever side of it a reader stops at.
      assert.isAtMost(Math.abs(at - offset), 8, fields?.["input"])
    }
  })

  it("gets 400 at once for a bomb: entities, depth, elements, attributes", async () => {
    const hostile = [
      `<speak>${entities}&a9;</speak>`,
      `<speak>${"<p>".repeat(3_000)}x${"</p>".repeat(300)}`,
      `<speak>${"<s>".repeat(25)}x${"</s>".repeat(25)}</speak>`,
      `<speak>${'<mark name="m"/>'.repeat(3_000)}x</speak>`.slice(0, 20_000),
      `<speak>${'<break time="10s"/>'.repeat(100)}x</speak>`,
      `<speak><prosody ${Array.from({ length: 500 }, (_, index) => `x:a${index}="1"`).join(" ")}>x</prosody></speak>`
    ]
    for (const input of hostile) {
      const beganMs = performance.now()
      await refused(stream, order({ input }), 400, "validation_failed")
      assert.isBelow(performance.now() - beganMs, 2_000, input.slice(0, 60))
    }
  })

  it("is plain text when it begins with a word: it is spoken as written, without expansion", async () => {
    const input = `Listen: ${entities.slice(0, 60)}]><speak>&a9;</speak>`
    const { marks, durationMs } = await fleet.listen(order({ input, output_format: "pcm_8000" }))
    assert.deepStrictEqual(faultsOfMarks([input], marks, durationMs), [])
    assert.isBelow(durationMs, 60_000)
  })

  it("names the faulty turn of a dialogue", async () => {
    const turns = [
      { input: "Fine.", voice_id: "henry" },
      { input: "<speak>Not fine", voice_id: "lena" }
    ]
    const { fields } = await refused("/v1/audio/dialogue", { turns }, 400, "validation_failed")
    assert.deepStrictEqual(Object.keys(fields ?? {}), ["turns[1].input"])
  })

  it("gets 413 when it is too long: 2,000 characters in one answer, 20,000 in a stream, tags counted", async () => {
    const long = (characters: number) => order({ input: `<speak>${"a ".repeat(characters)}`.slice(0, characters) })
    await refused(speech, long(2_001), 413, "payload_too_large")
    await refused(stream, long(20_001), 413, "payload_too_large")
    await refused(timestamps, long(20_001), 413, "payload_too_large")
    await refused(stream, { ...order(), other: "x".repeat(1_000_000) }, 413, "payload_too_large")
  })
})

// Its engine has no names for signs.
const silentVoice = "selma"

/** The answers of OpenAI's routes, each a body of its own. */
const openAi = (input: string, voice: string, more: object) => ({ model: "tts-1", input, voice, ...more })
const bodies = (input: string, voice_id: string): ReadonlyArray<readonly [path: string, body: object]> => [
  ...routes.map((path) => [path, { input, voice_id }] as const),
  ...["mp3_24000_64", "ogg_24000"].map((output_format) => [stream, { input, voice_id, output_format }] as const),
  [speech, { input, voice_id, options: { text_normalization: true } }],
  ["/v1/audio/dialogue", { turns: [{ input, voice_id }] }],
  ...["mp3", "opus", "wav", "pcm"].map(
    (format) => [speech, openAi(input, voice_id, { response_format: format })] as const
  ),
  [speech, openAi(input, voice_id, { stream_format: "sse" })]
]
const counted = () => fleet.metric("speech_characters_total")

describe("an input in which nothing is written", () => {
  it.each([" \n", "\u200b", "<speak/>", '<speak><mark name="a"/></speak>'])(
    "gets 400 on every route, and is not counted: %j",
    async (input) => {
      const before = await counted()
      for (const [path, body] of bodies(input, "henry")) {
        const { fields, message } = await refused(path, body, 400, "validation_failed")
        assert.match(`${message} ${JSON.stringify(fields)}`, /there is nothing to say/u, path)
      }
      assert.strictEqual(await counted(), before)
    }
  )
})

describe("an input of signs that nobody says", () => {
  it.each([
    ["...", "henry"],
    ["?!", "henry"],
    ["“—”", "henry"],
    ["<speak>...</speak>", "henry"],
    ["🎉", silentVoice],
    ["★", silentVoice],
    ["♥", silentVoice]
  ])("is answered with audio on every route, and is not counted: %j of %s", async (input, voice) => {
    const before = await counted()
    for (const [path, body] of bodies(input, voice)) {
      const response = await fleet.post(path, body)
      assert.strictEqual(response.status, 200, path)
      assert.isNotEmpty(new Uint8Array(await response.arrayBuffer()), path)
    }
    assert.strictEqual(await counted(), before)
  })

  it("is a file of a tenth of a second in every format", async () => {
    const answers = []
    for (const { name } of audioFormats) {
      const answer = await fleet.speak(order({ input: "...", output_format: name }))
      assert.strictEqual(answer.billable_characters_count, 0)
      assert.deepStrictEqual(answer.speech_marks.chunks, [])
      assert.isAtLeast(answer.audio_duration_ms, 100, name)
      // Some codecs have frames of 43 ms.
      assert.isBelow(answer.audio_duration_ms, 150, name)
      answers.push({ ...answer, bytes: Buffer.from(answer.audio_data, "base64"), format: name })
    }
    const pcms = await decodedTogether(answers)
    for (const [at, { audio_duration_ms: ms, format }] of answers.entries()) {
      assert.isAtMost(Math.abs(lengthMs(pcms[at] ?? assert.fail(format)) - ms), 5, format)
    }
  })

  it("is spoken where its voice has a name for it", async () => {
    const { audio_duration_ms: lengthMs } = await fleet.speak(
      order({ input: "🎉", options: { text_normalization: false } })
    )
    assert.isAbove(lengthMs, 300)
  })

  it("is a moment of a dialogue, and only its other turns are counted", async () => {
    const turns = [order(), { input: "🎉", voice_id: silentVoice }]
    const answer = await fleet.speak({ turns }, "/v1/audio/dialogue")
    assert.strictEqual(answer.billable_characters_count, "Hello.".length)
  })
})

describe("a request for something that does not exist", () => {
  it.each([
    ["an unknown voice", speech, { voice_id: "nobody" }, 404, "voice_not_found"],
    ["marks of a legacy model", timestamps, { model: "tts-english" }, 400, "speech_marks_unsupported"],
    ["an input that is no text", speech, { input: 7 }, 400, "validation_failed"]
  ] as const)("is refused: %s", async (_what, path, changes, status, code) => {
    await refused(path, order(changes), status, code)
  })
})

describe("an invalid request", () => {
  const statusOf = async (path: string, body: string, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${fleet.url}${path}`, { method: "POST", body, headers })
    const { error } = (await response.json()) as Refusal
    return [response.status, error.code]
  }
  const body = JSON.stringify(order())
  const json = "application/json"

  it("gets 401 without a token, or with an unknown one", async () => {
    const wrong = { "content-type": json, authorization: "Bearer stl_not-one-of-ours" }
    for (const path of routes) {
      assert.deepStrictEqual(await statusOf(path, body, { "content-type": json }), [401, "unauthorized"])
      assert.deepStrictEqual(await statusOf(path, body, wrong), [401, "unauthorized"])
    }
  })

  it("gets 403 with a token whose scope or role does not cover it", async () => {
    const reader = await fleet.tokenOf("--role", "owner", "--scope", "voices:read")
    const viewer = await fleet.tokenOf("--role", "viewer")
    const streamer = await fleet.tokenOf("--kind", "service", "--scope", "audio:stream")
    const as = (token: string) => ({ "content-type": json, authorization: `Bearer ${token}` })
    for (const token of [reader, viewer]) {
      for (const path of routes) {
        assert.deepStrictEqual(await statusOf(path, body, as(token)), [403, "insufficient_scope"])
      }
    }
    assert.deepStrictEqual(await statusOf(speech, body, as(streamer)), [403, "insufficient_scope"])
    const response = await fleet.post(stream, order(), { authorization: `Bearer ${streamer}` })
    assert.strictEqual(response.status, 200)
    await response.bytes()
  })

  it("gets 400 for broken or too deep JSON, and 415 for anything but JSON", async () => {
    const headers = { authorization: `Bearer ${fleet.token}`, "content-type": json }
    for (const broken of ["", "{", '{"input":"x",}', "null", "[]", '"x"', `${"[".repeat(40)}${"]".repeat(40)}`]) {
      const [status] = await statusOf(stream, broken, headers)
      assert.strictEqual(status, 400, broken)
    }
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/ssml+xml"]) {
      const answered = await statusOf(stream, body, { ...headers, "content-type": type })
      assert.deepStrictEqual(answered, [415, "unsupported_media_type"])
    }
  })
})

const admittedWithinTries = 5

describe("300 random documents", () => {
  it("are each spoken or refused quickly, and none gets a 5xx", async () => {
    const inputs = Array.from({ length: 300 }, (_, index) => randomSsml(diceOf(7_919 * (index + 1))).slice(0, 4_000))
    const statuses = new Map<number, number>()
    const one = async (input: string, tried = 1): Promise<void> => {
      const signal = AbortSignal.timeout(15_000)
      const response = await fetch(`${fleet.url}${timestamps}`, {
        method: "POST",
        headers: { authorization: `Bearer ${fleet.token}`, "content-type": "application/json" },
        body: JSON.stringify(order({ input, output_format: "pcm_8000" })),
        signal
      })
      const text = await response.text()
      // A machine whose processors others use as well admits less at once, and says when to ask again.
      if (response.status === 429 && tried < admittedWithinTries) {
        await pauseMs(Number(response.headers.get("retry-after") ?? 1) * 1_000)
        return await one(input, tried + 1)
      }
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      if (response.status === 200) {
        const events = listener()
        events.take(text)
        const { marks, durationMs } = events.heard()
        assert.deepStrictEqual(faultsOfMarks([input], marks, durationMs), [], input)
      } else {
        assert.strictEqual(response.status, 400, `${JSON.stringify(input)}: ${text}`)
        assert.match((JSON.parse(text) as Refusal).error.fields?.["input"] ?? "", /offset \d+/u)
      }
    }
    for (let at = 0; at < inputs.length; at += 10)
      await Promise.all(inputs.slice(at, at + 10).map((input) => one(input)))

    assert.isAtLeast(statuses.get(200) ?? 0, 10, JSON.stringify([...statuses]))
    assert.isAtLeast(statuses.get(400) ?? 0, 50, JSON.stringify([...statuses]))
    assert.strictEqual(await fleet.metric("speech_streams_active"), 0)
    assert.strictEqual(await fleet.metric("http_requests_total", 'status="5xx"'), 0)
  })
})

// More than fits between the fleet and a client that does not read.
const longInput = "The harbour wakes before the town does, and nobody minds. ".repeat(50)
const longOrder = { input: longInput, voice_id: "henry", output_format: "pcm_24000" }

describe("a waiting client", () => {
  it("gets a comment meanwhile, and then the whole answer", async () => {
    const stopped = childrenOf(fleet.pid, "lame-program").map(({ pid }) => pid)
    assert.isNotEmpty(stopped)
    const signal = (name: NodeJS.Signals) => {
      for (const { pid } of childrenOf(fleet.pid, "lame-program")) if (stopped.includes(pid)) process.kill(pid, name)
    }
    signal("SIGSTOP")
    try {
      const { response } = await openStream(fleet, timestamps, {
        ...longOrder,
        input: "All is well.",
        output_format: "mp3_24000_64"
      })
      assert.strictEqual(response.statusCode, 200)
      const events = listener()
      for await (const part of response as AsyncIterable<Buffer>) {
        events.take(part.toString())
        if (events.comments() > 0) signal("SIGCONT")
      }
      assert.isAtLeast(events.comments(), 1)
      const { marks, durationMs } = events.heard()
      assert.deepStrictEqual(
        marks.map(({ value }) => value),
        ["All", "is", "well."]
      )
      assert.isAbove(durationMs, 500)
    } finally {
      signal("SIGCONT")
    }
  })
})

describe("SIGTERM", () => {
  it("lets running streams be heard to their end, takes no new ones, and the fleet exits with 0", async () => {
    const running = [await listenSlowly(fleet, longOrder, 1_200_000), await listenSlowly(fleet, longOrder, 1_200_000)]
    await until(() => running.every(({ listener }) => listener.bytes() > 1_000_000))
    const children = childrenOf(fleet.pid).map(({ pid }) => pid)
    assert.isNotEmpty(children)
    const stopped = fleet.stop("SIGTERM")
    const isRefused = () =>
      fleet.post(stream, longOrder).then(
        async (response) => {
          await response.body?.cancel()
          return response.status === 503
        },
        () => true
      )
    await until(isRefused)
    assert.isFalse(
      running.some(({ listener }) => listener.isDone()),
      "they ended before it could be seen"
    )

    for (const { ended } of running) {
      const { marks, audio, durationMs } = await ended
      assert.deepStrictEqual(faultsOfMarks([longInput], marks, durationMs), [])
      assert.strictEqual(unmarked(longInput, marks), "")
      assert.isAtMost(Math.abs(audio.length / 48 - durationMs), 1)
    }
    assert.strictEqual(await stopped, 0)
    // The fleet ends their guardians last, by a signal that it does not wait for.
    for (const pid of children) await until(() => isGone(pid))
  })
})
