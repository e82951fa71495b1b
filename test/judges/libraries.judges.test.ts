/** Libraries that nobody here wrote, as their makers publish them, at a gateway that sells and gives away. */
import { afterAll, assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../dev/fixtures/eventually.ts"
import {
  dialectsFor,
  type JudgedClient,
  judgedClients,
  type JudgedTask
} from "../../services/model-gateway/judged-clients.ts"
import { openBooks } from "./account.ts"
import { installedClient } from "./client-packages.ts"
import { Judged, type JudgedModel, judgedModels, picture, type Reach, since } from "./judged-gateway.ts"
import { recordJudged } from "./record.ts"
import { type Order, startWorker, type Told, type Worker } from "./library-worker.ts"

const workers = new Map<string, Promise<Worker | string>>()
afterAll(async () => {
  for (const each of workers.values()) {
    const worker = await each
    if (typeof worker !== "string") worker.end()
  }
})

const workerOf = (client: JudgedClient): Promise<Worker | string> => {
  const started =
    workers.get(client.name) ??
    installedClient(client).then((found) => (typeof found === "string" ? found : startWorker(client, found)))
  workers.set(client.name, started)
  return started
}

recordJudged("library")

const libraries = judgedClients.filter(({ kind }) => kind !== "agent")

type Skip = (why: string) => never

/** What a client says of an order, and what the model was asked meanwhile. */
const told = Effect.fnUntraced(function* (
  client: JudgedClient,
  { url, apiKey, pays }: Reach,
  order: Pick<Order, "dialect" | "model" | "prompt" | "thinks" | "leaves">,
  skip: Skip
) {
  const { fleet } = yield* Judged
  const last = fleet.upstream.calls.at(-1)
  const worker = yield* Effect.promise(() => workerOf(client))
  if (typeof worker === "string") return skip(worker)
  const said: Told = yield* Effect.promise(() => worker.ask({ baseURL: `${url}/v1`, apiKey, pays, ...order }))
  const asked = since(fleet.upstream, last)
  return { ...said, asked }
})

const casesOf = (client: JudgedClient, task: JudgedTask, models: ReadonlyArray<JudgedModel>, onlyFree = false) =>
  dialectsFor(client, task).flatMap((dialect) =>
    models.flatMap((model) =>
      client.ways.filter((way) => !onlyFree || way === "free").map((way) => ({ dialect, model, way }))
    )
  )

const familyOf = (way: string) => (way === "free" ? "free" : "paid")

/** Two calls at once, then one that follows from them, then an answer. */
const turns = ['!use read {"path":"a.txt"}', '!use look {"at":"sky"}', "!then", '!use read {"path":"b.txt"}'].join("\n")

/** What each raises where the context is full: its own type, or the words by which programs know it. */
const fullOf = (client: JudgedClient, dialect: string): Partial<Record<"name" | "code" | "message", RegExp>> => {
  if (client.name === "litellm-py") return { name: /^ContextWindowExceededError$/u }
  if (client.name === "langchain") return { name: /^ContextOverflowError$/u }
  if (dialect === "messages") return { message: /prompt is too long: \d+ tokens > \d+ maximum/u }
  return { message: /maximum context length is \d+ tokens/u }
}

layer(Judged.layer, { timeout: "2 minutes", excludeTestServices: true })((it) => {
  describe.each(libraries)("the newest $title", (client) => {
    it.effect.each(casesOf(client, "turns", judgedModels))(
      "does a task of three turns by $dialect on $model, whole and streamed, $way",
      ({ dialect, model, way }, { skip }) =>
        Effect.gen(function* () {
          const reach = (yield* Judged).reach(way)
          const order = { dialect, model: `${familyOf(way)}/${model}`, prompt: turns }
          const booksAgree = yield* openBooks(reach)
          const { texts = [], fault } = yield* told(client, reach, order, skip)
          assert.isUndefined(fault, JSON.stringify(fault))
          assert.strictEqual(texts.length, 2)
          for (const text of texts) assert.include(text, "content of b.txt")
          yield* booksAgree({ calls: 6 })
        })
    )

    it.effect.each(casesOf(client, "leaves", ["echo", "claude"]))(
      "leaves in mid-answer by $dialect on $model, and goes on, $way",
      ({ dialect, model, way }, { skip }) =>
        Effect.gen(function* () {
          const reach = (yield* Judged).reach(way)
          const order = { dialect, model: `${familyOf(way)}/${model}`, prompt: "!words 400 50ms", leaves: true }
          const booksAgree = yield* openBooks(reach)
          const { texts = [], fault, asked } = yield* told(client, reach, order, skip)
          assert.isUndefined(fault, JSON.stringify(fault))
          assert.include(texts[0], "word0")
          assert.strictEqual(texts[1], "go on")
          yield* eventually(() => asked[0]?.state === "cancelled")
          yield* booksAgree({ calls: 2, left: true })
        })
    )

    it.effect.each(casesOf(client, "picture", ["echo", "strict", "claude"], true))(
      "shows $model a picture that a tool gave, by $dialect",
      ({ dialect, model, way }, { skip }) =>
        Effect.gen(function* () {
          const order = { dialect, model: `free/${model}`, prompt: "!use draw {}" }
          const { fault, asked } = yield* told(client, (yield* Judged).reach(way), order, skip)
          assert.isUndefined(fault, JSON.stringify(fault))
          const shown = asked.filter(({ body }) => JSON.stringify(body).includes(picture))
          assert.strictEqual(shown.length, 2)
        })
    )

    it.effect.each(casesOf(client, "thought", ["reasoner", "claude"], true))(
      "returns the thoughts of $model with the results of their calls, by $dialect",
      ({ dialect, model, way }, { skip }) =>
        Effect.gen(function* () {
          const order = { dialect, model: `free/${model}`, prompt: turns, thinks: true }
          const { texts = [], fault, asked } = yield* told(client, (yield* Judged).reach(way), order, skip)
          assert.isUndefined(fault, JSON.stringify(fault))
          for (const text of texts) assert.include(text, "content of b.txt")
          // In OpenAI's shape a thought has no seal: it is told by its text.
          const returned = /"signature":"|"reasoning_content":"the words come back/u
          const counts = asked.map(({ body }) => JSON.stringify(body).split(returned).length - 1)
          assert.deepStrictEqual(counts, [0, 1, 2, 0, 1, 2])
        })
    )

    it.effect.each(casesOf(client, "full", ["echo", "claude"], true))(
      "says by $dialect that the context of $model is full",
      ({ dialect, model, way }, { skip }) =>
        Effect.gen(function* () {
          const order = { dialect, model: `little/${model}`, prompt: "many words ".repeat(30_000) }
          const { fault } = yield* told(client, (yield* Judged).reach(way), order, skip)
          for (const [key, pattern] of Object.entries(fullOf(client, dialect))) {
            assert.match(String(fault?.[key as keyof typeof fault]), pattern, JSON.stringify(fault))
          }
        })
    )

    it.effect.each(client.ways.filter((way) => way === "own channel").map((way) => ({ way })))(
      "has its rest back from its channel, and has lost what it was charged",
      ({ way }, { skip }) =>
        Effect.gen(function* () {
          const reach = (yield* Judged).reach(way)
          const worker = yield* Effect.promise(() => workerOf(client))
          if (typeof worker === "string" || reach.pays === undefined) return skip(String(worker))
          const booksAgree = yield* openBooks(reach)
          const order = { refund: `${reach.url}/v1/channels`, pays: reach.pays }
          const { fault } = yield* Effect.promise(() => worker.ask(order))
          assert.isUndefined(fault, JSON.stringify(fault))
          yield* booksAgree({ back: true })
        })
    )
  })
})
