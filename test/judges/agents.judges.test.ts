/** Agents that nobody here wrote, as their makers publish them: programs of a terminal, each in a home of its own. */
import { execFile, spawn } from "node:child_process"
import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { type JudgedClient, judgedClients } from "../../services/model-gateway/judged-clients.ts"
import { openBooks } from "./account.ts"
import { recordJudged } from "./record.ts"
import { installed, type Installed, installedClient } from "./client-packages.ts"
import { Judged, judgedModels, littleTokens, picture, type Reach, since } from "./judged-gateway.ts"

const withinMs = 120_000

interface Place extends Pick<Reach, "url" | "apiKey"> {
  readonly model: string
  readonly work: string
  readonly home: string
  readonly folder: string
}

interface Call {
  readonly args: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  /** What it reads from its standard input: its order. */
  readonly input: string
}

interface Agent {
  /** Writes its settings. */
  readonly prepare: (at: Place) => Promise<void>
  /** `goesOn`: with the last conversation of this place. */
  readonly call: (at: Place, order: string, goesOn: boolean) => Call
  /** What has its own tools read the note, and show a picture, in this place. */
  readonly reads: string
  readonly shows: (work: string) => string
}

const codex: Agent = {
  prepare: async ({ url, model, home }) => {
    const provider = `[model_providers.starling]\nname = "starling"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "A_TOKEN"\n`
    // It has never heard of the model, and the local provider counts words, of which a token has fewer.
    const limits = `model_context_window = ${littleTokens}\nmodel_auto_compact_token_limit = ${littleTokens / 2}\n`
    await writeFile(
      join(home, "config.toml"),
      `model_provider = "starling"\napproval_policy = "never"\n${model.startsWith("little/") ? limits : ""}${provider}`
    )
  },
  call: ({ model, home, apiKey }, order, goesOn) => ({
    args: [
      "exec",
      ...(goesOn ? ["resume", "--last"] : []),
      "--skip-git-repo-check",
      ...(goesOn ? ["-c", 'sandbox_mode="danger-full-access"'] : ["--sandbox", "danger-full-access"]),
      "-m",
      model,
      "-"
    ],
    input: order,
    environment: { CODEX_HOME: home, A_TOKEN: apiKey }
  }),
  reads: [
    '!use exec_command {"cmd":"cat note.txt"}',
    '!use exec_command {"cmd":"ls -a"}',
    "!then",
    '!use exec_command {"cmd":"wc -c note.txt"}'
  ].join("\n"),
  shows: (work) => `!use view_image ${JSON.stringify({ path: join(work, "dot.png") })}`
}

const claude: Agent = {
  prepare: async () => undefined,
  call: ({ url, model, apiKey }, order, goesOn) => ({
    args: [...(goesOn ? ["-c"] : []), "-p", "--model", model, "--allowedTools", "Bash,Read", "--max-turns", "6"],
    input: order,
    environment: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: apiKey,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
    }
  }),
  reads: [
    '!use Bash {"command":"cat note.txt"}',
    '!use Bash {"command":"ls -a"}',
    "!then",
    '!use Bash {"command":"wc -c note.txt"}'
  ].join("\n"),
  shows: (work) => `!use Read ${JSON.stringify({ file_path: join(work, "dot.png") })}`
}

const opencode: Agent = {
  prepare: async ({ url, model, work, apiKey }) => {
    const limit = model.startsWith("little/") ? { limit: { context: littleTokens, output: 2_000 } } : {}
    const takes = { attachment: true, modalities: { input: ["text", "image"], output: ["text"] } }
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${url}/v1`, apiKey },
      models: { [model]: { ...limit, ...takes } }
    }
    await writeFile(
      join(work, "opencode.json"),
      JSON.stringify({ provider: { starling: provider }, permission: { "*": "allow" } })
    )
  },
  call: ({ model }, order, goesOn) => ({
    args: ["run", ...(goesOn ? ["-c"] : []), "-m", `starling/${model}`],
    input: order
  }),
  reads: [
    '!use bash {"command":"cat note.txt","description":"reads"}',
    '!use bash {"command":"ls -a","description":"lists"}',
    "!then",
    '!use bash {"command":"wc -c note.txt","description":"counts"}'
  ].join("\n"),
  shows: (work) => `!use read ${JSON.stringify({ filePath: join(work, "dot.png") })}`
}

const agents: Readonly<Record<string, Agent>> = { codex, claude, opencode }

const agentOf = ({ name }: JudgedClient) => agents[name] ?? assert.fail(`${name} is no agent`)

const newPlace = async (name: string, model: string, { url, apiKey }: Reach, { folder }: Installed) => {
  const work = await mkdtemp(join(tmpdir(), `judge-${name}-`))
  const home = await mkdtemp(join(tmpdir(), `judge-${name}-home-`))
  await writeFile(join(work, "note.txt"), "the starling sings at dawn\n")
  await writeFile(join(work, "dot.png"), Buffer.from(picture, "base64"))
  return { url, apiKey, model, work, home, folder }
}

interface Running {
  readonly ended: Promise<{ readonly out: string; readonly error: string }>
  readonly leave: () => void
}

/** Runs until it ends, is left, or the test is over. */
const start = (name: string, { work, home, folder }: Place, { args, input, environment = {} }: Call) =>
  Effect.acquireRelease(
    Effect.sync((): Running & { readonly kill: (signal: NodeJS.Signals) => void } => {
      const child = spawn(join(folder, "node_modules/.bin", name), args, {
        cwd: work,
        env: { PATH: process.env["PATH"], HOME: home, ...environment },
        detached: true
      })
      const said = { out: "", error: "" }
      child.stdout.on("data", (part: Buffer) => void (said.out += part.toString()))
      child.stderr.on("data", (part: Buffer) => void (said.error += part.toString()))
      child.stdin.end(input)
      // With all that it has started.
      const kill = (signal: NodeJS.Signals) => {
        if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
          process.kill(-child.pid, signal)
      }
      const hangs = setTimeout(() => kill("SIGKILL"), withinMs)
      child.once("close", () => clearTimeout(hangs))
      const ended: Running["ended"] = new Promise((resolve) => child.once("close", () => resolve(said)))
      return { ended, kill, leave: () => kill("SIGINT") }
    }),
    ({ kill }) => Effect.sync(() => kill("SIGKILL"))
  )

const runToEnd = (name: string, place: Place, call: Call) =>
  Effect.flatMap(start(name, place, call), ({ ended }) => Effect.promise(() => ended))

recordJudged("agent")

const filler = "many words ".repeat(7_000)

const programs = judgedClients.filter(({ kind }) => kind === "agent")

layer(Judged.layer, { timeout: "2 minutes", excludeTestServices: true })((it) => {
  describe.each(programs)("the newest $title", (client) => {
    const { name, ways } = client
    const { prepare, call, reads, shows } = agentOf(client)

    const settled = (model: string, reach: Reach, skip: (why: string) => never) =>
      Effect.promise(async () => {
        const found = await installedClient(client)
        if (typeof found === "string") return skip(found)
        const place = await newPlace(name, model, reach, found)
        await prepare(place)
        return place
      })

    it.effect.each(judgedModels.flatMap((model) => ways.map((way) => ({ model, way }))))(
      "reads a file on $model by its own tools, two at once, $way",
      ({ model, way }, { skip }) =>
        Effect.gen(function* () {
          const reach = (yield* Judged).reach(way)
          const booksAgree = yield* openBooks(reach)
          const place = yield* settled(`${way === "free" ? "free" : "paid"}/${model}`, reach, skip)
          const { out, error } = yield* runToEnd(name, place, call(place, reads, false))
          // The task's last result, said again.
          assert.include(out, "27 note.txt", `${out}${error}`.slice(-2_000))
          yield* booksAgree({ left: true })
        })
    )

    it.effect("returns the thoughts of the reasoner with the results of their calls", ({ skip }) =>
      Effect.gen(function* () {
        const { fleet, reach } = yield* Judged
        const place = yield* settled("free/reasoner", reach("free"), skip)
        const last = fleet.upstream.calls.at(-1)
        yield* runToEnd(name, place, call(place, reads, false))
        const counts = since(fleet.upstream, last).map(
          ({ body }) => JSON.stringify(body).split('"reasoning_content":"the words come back').length - 1
        )
        // Of both answers with calls.
        assert.strictEqual(Math.max(...counts), 2)
      })
    )

    it.effect.each((["echo", "strict", "claude"] as const).map((model) => ({ model })))(
      "shows $model a picture that a tool gave",
      ({ model }, { skip }) =>
        Effect.gen(function* () {
          const { fleet, reach } = yield* Judged
          const place = yield* settled(`free/${model}`, reach("free"), skip)
          const last = fleet.upstream.calls.at(-1)
          yield* runToEnd(name, place, call(place, shows(place.work), false))
          const asked = since(fleet.upstream, last)
          const shown = asked.filter(({ body }) =>
            /data:image\/png;base64|"media_type":"image\/png"/u.test(JSON.stringify(body))
          )
          assert.isAtLeast(shown.length, 1)
        })
    )

    it.effect.each([...ways.map((way) => ({ model: "echo", way })), { model: "claude", way: "free" } as const])(
      "is interrupted in mid-answer of $model, and goes on, $way",
      ({ model, way }, { skip }) =>
        Effect.gen(function* () {
          const { fleet, reach: reachBy } = yield* Judged
          const reach = reachBy(way)
          const booksAgree = yield* openBooks(reach)
          const place = yield* settled(`${way === "free" ? "free" : "paid"}/${model}`, reach, skip)
          const last = fleet.upstream.calls.at(-1)
          const asked = () => since(fleet.upstream, last)
          const long = call(place, "!words 2000 50ms", false)
          const { ended, leave } = yield* start(name, place, long)
          const isLong = (body: unknown) => JSON.stringify(body).includes("!words 2000 50ms")
          yield* eventually(() => asked().some(({ state, body }) => state === "running" && isLong(body)), {
            withinMs: 60_000
          })
          leave()
          yield* Effect.promise(() => ended)
          yield* eventually(() => asked().every(({ state }) => state !== "running"))
          assert.isTrue(asked().some(({ state }) => state === "cancelled"))
          const { out, error } = yield* runToEnd(name, place, call(place, reads, true))
          assert.include(out, "27 note.txt", `${out}${error}`.slice(-2_000))
          assert.isTrue(isLong(asked().at(-1)?.body), "the conversation was not taken up")
          yield* booksAgree({ left: true })
        })
    )

    it.effect.each((["echo"] as const).map((model) => ({ model })))(
      "fills the context of $model, makes room, and goes on",
      ({ model }, { skip }) =>
        Effect.gen(function* () {
          const { fleet, reach } = yield* Judged
          const place = yield* settled(`little/${model}`, reach("free"), skip)
          const first = fleet.upstream.calls.at(-1)
          for (const turn of [1, 2, 3, 4]) {
            const order = `turn ${turn}\n${filler}\n${reads}`
            const { out, error } = yield* runToEnd(name, place, call(place, order, turn > 1))
            // Where the answer follows a summary, it may be that which is said again.
            assert.notStrictEqual(out.trim(), "", `turn ${turn}: ${error}`.slice(-2_000))
          }
          // All four turns are more than the context holds.
          const asked = JSON.stringify(since(fleet.upstream, first).at(-1)?.body)
          assert.isBelow(asked.length, 4 * filler.length)
        })
    )
  })
})

const run = promisify(execFile)

layer(Judged.layer, { timeout: "2 minutes", excludeTestServices: true })((it) => {
  it.effect.each(judgedModels.map((model) => ({ model })))(
    "the newest compatcanary gives $model all of its points",
    ({ model }, { skip }) =>
      Effect.gen(function* () {
        const { url } = (yield* Judged).reach("free")
        const client = yield* Effect.promise(() => installed("compatcanary", ["compatcanary"]))
        if (typeof client === "string") return skip(client)
        const at = ["--base-url", `${url}/v1`, "--model", `free/${model}`, "--api-key", "none"]
        const program = join(client.folder, "node_modules/.bin/compatcanary")
        const { stdout } = yield* Effect.promise(() =>
          run(program, ["scan", ...at, "--profile", "modern"], { timeout: withinMs })
        )
        assert.include(stdout, "Score: 100/100", stdout)
      })
  )
})
