/**
 * Secrets planted wherever a fleet holds or meets one, through successes and failures of all three jobs, at the most
 * verbose log level: none of them may appear in its logs, its pages, its traffic or its storage.
 */
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { askOver, busContents, pickUpWork, publishBytesOver, publishOver } from "../support/bus-contents.ts"
import { machineUsers } from "../../services/fleet/nats-server/configuration.ts"
import { repository } from "../deploy/tools.ts"
import { type Collector, startCollector } from "../support/collector.ts"
import { leakyConfiguration, type LeakyFixture, startLeakyFixture } from "../support/leaky-fixture.ts"
import { payingFetch } from "../support/payment-client.ts"
import { pipelineApi } from "../support/pipeline-api.ts"
import { broughtToLight, formsOf, planted, plantedSecrets, type Secrets } from "../support/planted.ts"
import { type Home, newHome, type RunningFleet, starling, startFleet, type Ready } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"

const planting = plantedSecrets()
let secrets: Secrets = planting
let world: LeakyFixture
let collector: Collector
let home: Home
let fleet: RunningFleet
let ready: Ready
/** Bodies and headers of everything that was refused. */
const refusals: Array<readonly [string, string]> = []

beforeAll(async () => {
  world = await startLeakyFixture({ webhook: planting.webhook, standard: planting.standardWebhook })
  const settler = world.chain.settlers[0]?.privateKey ?? ""
  collector = await startCollector()
  home = newHome({
    TELEMETRY_LOG_LEVEL: "Trace",
    TELEMETRY_OTLP_URL: collector.url,
    TELEMETRY_TRACE_SAMPLE_RATIO: "1",
    BUS_USER: "anybody",
    BUS_PASSWORD: planting.brokerPassword,
    PLANTED_WEBHOOK: planting.webhook,
    PLANTED_STANDARD: planting.standardWebhook,
    PLANTED_PROVIDER: planting.provider,
    PLANTED_OTHER: planting.otherProvider,
    PLANTED_UNREADABLE: planting.unreadable,
    PLANTED_SETTLER: settler
  })
  const config = join(home.folder, "config.json")
  writeFileSync(config, JSON.stringify(leakyConfiguration(world, planting)))
  home.environment["STARLING_CONFIG"] = config
  fleet = await startFleet(home)
  ready = fleet.ready
  const passwords = machineUsers.map(({ user }) => [`password of ${user}`, fleet.busAs(user).password ?? ""] as const)
  secrets = { ...planting, settler, ownerToken: ready.token, ...Object.fromEntries(passwords) }
})

afterAll(async () => {
  await fleet.stop("SIGTERM")
  await collector.close()
  await world.stop()
  home.remove()
})

const call = async (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}, by = fetch) => {
  const sent = { "content-type": "application/json", authorization: `Bearer ${ready.token}`, ...headers }
  const answer = await by(url, { method: "POST", headers: sent, body: JSON.stringify(body) })
  const text = Buffer.from(await answer.arrayBuffer()).toString("utf8")
  if (!answer.ok) refusals.push([`${answer.status} of ${url}`, `${JSON.stringify([...answer.headers])} ${text}`])
  return { status: answer.status, text }
}

const asked = (model: string, prompt: string, more: object = {}) => ({
  model: `demo/${model}`,
  messages: [{ role: "user", content: prompt }],
  ...more
})

/** A series that has counted something. */
const metric = async (start: string) =>
  (await (await fetch(`${ready.metrics}/metrics`)).text())
    .split("\n")
    .find((line) => line.startsWith(start) && !line.endsWith(" 0"))

const payAndFail = async () => {
  const chat = `${ready.gateway}/v1/chat/completions`.replace("127.0.0.1", "localhost")
  const paying = payingFetch(world.chain.payer.privateKey)
  const good = planting.prompt
  const bad = planting.failingPrompt
  assert.strictEqual((await call(chat, asked("echo", good), {}, paying)).status, 200)
  assert.strictEqual((await call(chat, asked("echo", good, { stream: true }), {}, paying)).status, 200)
  for (const model of ["leaky", "broken"]) {
    assert.isAtLeast((await call(chat, asked(model, bad), {}, paying)).status, 400)
    assert.isAtLeast((await call(chat, asked(model, bad, { stream: true }), {}, paying)).status, 400)
  }
  assert.isAtLeast((await call(chat, asked("free", bad))).status, 400)
  assert.strictEqual((await call(chat, asked("echo", bad))).status, 402)
  const none = { "payment-signature": Buffer.from(planting.noPayment).toString("base64") }
  assert.isAtLeast((await call(chat, asked("echo", bad), none)).status, 400)
  assert.strictEqual((await call(chat, { ...asked("echo", bad), temperature: bad })).status, 400)
  await until(async () => (await metric("payment_settlement_seconds_count"))?.endsWith(" 2") === true)
}

const speakAndFail = async () => {
  const stream = `${ready.speech}/v1/audio/stream`
  const said = { input: planting.speech, voice_id: "henry" }
  assert.strictEqual((await call(stream, said)).status, 200)
  const refused = { input: planting.refusedSpeech, voice_id: "henry" }
  assert.isAtLeast((await call(stream, { ...refused, voice_id: "nobody" })).status, 400)
  assert.isAtLeast((await call(stream, { ...refused, output_format: "tape" })).status, 400)
  assert.isAtLeast((await call(stream, { ...refused, input: `<speak>${refused.input}` })).status, 400)
  const wrong = { authorization: `Bearer ${planting.wrongToken}` }
  assert.strictEqual((await call(stream, refused, wrong)).status, 401)
  assert.strictEqual((await call(`${ready.pipeline}/workitems`, {}, wrong)).status, 401)
}

const askAndAnswer = async () => {
  const api = pipelineApi(ready.pipeline, ready.token)
  await api.call("PUT", "/projects/gates", { displayName: "Gates", repositoryUrl: "https://git.example/gates" })
  const item = await api.call("POST", "/workitems", { title: "Oil the gate", projectId: "gates" })
  const workItemId = String(item["id"])
  const { dispatchId } = await pickUpWork(fleet.serviceBus)
  const questionText = `Is it ${planting.question}?`
  await publishOver(fleet.serviceBus, "reports.questions-asked", {
    kind: "questions-asked",
    reportId: randomUUID(),
    atMs: Date.now(),
    workItemId,
    dispatchId,
    questions: [{ questionId: "q-1", questionText }]
  })
  const answered = { questionId: "q-1", answer: `No: ${planting.answer}` }
  await until(() => api.ask("POST", `/workitems/${workItemId}/answer`, answered), { is: ({ status }) => status < 300 })
  assert.deepInclude((await pickUpWork(fleet.serviceBus)).replies[0], { questionId: "q-1", text: answered.answer })
  const done = `/workitems/${workItemId}/answer`
  assert.isAtLeast((await call(`${ready.pipeline}${done}`, answered)).status, 400)
}

/** Reports and questions of a runner that break their schema, or are no JSON. */
const breakTheSchema = async () => {
  const { unreadable, unreadableToken } = planting
  const body = {
    kind: "questions-asked",
    note: `${unreadable} ${unreadableToken}`,
    [unreadableToken]: 1,
    token: unreadable
  }
  const unread = [
    ["questions-asked", JSON.stringify(body)],
    ["questions-asked", `${unreadable} is no JSON`],
    ["questions-asked", `{"error": "it was ${unreadableToken}`],
    [`progress`, JSON.stringify({ kind: unreadableToken })]
  ] as const
  for (const [kind, bytes] of unread) await publishBytesOver(fleet.serviceBus, `reports.${kind}`, bytes)
  for (const question of [{ ...body, command: body }, unreadable]) {
    const answered = askOver(fleet.serviceBus, "commands.workitem", question)
    const said = await answered.then(JSON.stringify, String)
    refusals.push(["the answer to a question that breaks its schema", said])
  }
  const rejected = async (origin: string) =>
    (await metric(`bus_rejected_total{role="pipeline-api",origin="${origin}"`))?.split(" ")[1]
  await until(async () => (await rejected("reports")) === "4" && (await rejected("requests")) === "2")
}

/**
 * Places that may hold a secret for a while: an answer to a runner, for a minute, in case it asks again; and a paid
 * call, which repeats the prompt, until its payer has it.
 */
const isMeant = ([stream, text]: readonly [stream: string, text: string]) =>
  (stream === "KV_answers" && text.includes("takenBy") && text.includes("Nats-TTL: 60s")) ||
  stream === "OBJ_paid-answers"

/** The output of `tail` up to this text; it follows without end. */
const tailed = async (last: string, ...parameters: ReadonlyArray<string>) => {
  const child = spawn("./starling", ["tail", ...parameters], { cwd: repository, env: home.environment })
  let out = ""
  child.stdout.on("data", (data: Buffer) => (out += data.toString()))
  child.stderr.on("data", (data: Buffer) => (out += data.toString()))
  const ended = new Promise((resolve) => child.once("exit", resolve))
  await until(() => out.includes(last))
  child.kill("SIGTERM")
  await ended
  return out
}

describe("a fleet that holds secrets", () => {
  it("does its jobs, and fails at some", async () => {
    await starling(home, "publish", "work_item.merged", "--example")
    await until(() => metric('webhook_deliveries_total{role="webhook-dispatcher",endpoint="ill"'), {
      is: (seen) => seen !== undefined
    })
    await payAndFail()
    await speakAndFail()
    await askAndAnswer()
    await breakTheSchema()
    await until(() => collector.bodies.length, { is: (length) => length > 0 })

    assert.isTrue(world.called.some((path) => path.startsWith("/well")))
    assert.isAbove(refusals.length, 10)
  })

  it("shows none of them in its log, its metrics, its traces or its refusals", async () => {
    const shown = await fetch(`${ready.metrics}/metrics`)
    const places: ReadonlyArray<readonly [string, string]> = [
      ["the log", fleet.log()],
      ["the metrics", await shown.text()],
      ...collector.bodies.map((body) => ["a trace", body] as const),
      ...refusals
    ]

    assert.include(fleet.log(), '"level":"DEBUG"')
    assert.deepStrictEqual(broughtToLight(secrets, places), [])
  })

  it("keeps none of them on the broker", async () => {
    const contents = await busContents(fleet.busAs("stream-keeper"))
    const streams = new Set(contents.map(([stream]) => stream))

    assert.includeMembers(
      [...streams],
      ["LOG", "EVENTS", "ATTEMPTS", "ABANDONED", "REJECTED", "RECEIPTS", "KV_authorizations"]
    )
    const other = Object.fromEntries(Object.entries(secrets).filter(([name]) => name !== "prompt" && name !== "answer"))
    assert.deepStrictEqual(broughtToLight(other, contents), [])
    assert.deepStrictEqual(
      broughtToLight(
        secrets,
        contents.filter((message) => !isMeant(message))
      ),
      []
    )
  })

  it("shows none of them on the terminal", async () => {
    const said: Array<readonly [string, string]> = [
      ["tail --attempts", await tailed("ill", "--attempts", "--last", "50")],
      ["tail", await tailed("work_item.merged", "--last", "50", "--json")]
    ]
    const commands = [
      ["endpoints", "list"],
      ["token", "list"],
      ["endpoints", "show", "ill"],
      ["abandoned", "resend", "--endpoint", "ill"]
    ]
    for (const command of commands) {
      const { code, out, error } = await starling(home, ...command)
      assert.strictEqual(code, 0, error)
      said.push([command.join(" "), `${out}${error}`])
    }

    assert.deepStrictEqual(broughtToLight(secrets, said), [])
  })

  it("shows none of a refused configuration", async () => {
    const path = join(home.folder, "refused.json")
    const wrong = `https://somebody:${planting.webhook}@hooks.example/`
    writeFileSync(path, JSON.stringify({ Webhooks: [{ Name: "a", Url: wrong }], Bus: { Url: 1, Password: [wrong] } }))
    const { code, error, out } = await starling(
      { ...home, environment: { ...home.environment, STARLING_CONFIG: path } },
      "up"
    )

    assert.notStrictEqual(code, 0)
    assert.deepStrictEqual(broughtToLight(secrets, [["the refusal", `${error}${out}`]]), [])
  })
})

describe("the search for planted secrets", () => {
  it.each(["base64", "base64url", "hex"] as const)("finds one in a text that hides it by %s, at any place", (form) => {
    for (const before of ["", "a", "ab", "abc"]) {
      const text = Buffer.from(`${before}${planting.webhook} and more`).toString(form)
      assert.isNotEmpty(broughtToLight({ webhook: planting.webhook }, [["there", text]]), before)
    }
  })

  it("does not find one in a text without it", () => {
    assert.isTrue(formsOf(planting.webhook).every((form) => form.length >= 20))
    assert.isEmpty(broughtToLight(secrets, [["there", Buffer.from(planted()).toString("base64")]]))
  })
})
