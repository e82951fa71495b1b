import { execFile } from "node:child_process"
import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Installed, installed } from "./client-packages.ts"
import { judgedModels, withJudgedModels } from "./judged-gateway.ts"

const run = promisify(execFile)
const withinMs = 120_000

/** Two calls at once, then one that follows from them, then an answer. */
const task = ['!use read {"path":"a.txt"}', '!use look {"at":"sky"}', "!then", '!use read {"path":"b.txt"}'].join("\n")

interface Library {
  readonly name: string
  readonly packages: ReadonlyArray<string>
  readonly script: string
  readonly dialects: ReadonlyArray<string>
}

const libraries: ReadonlyArray<Library> = [
  {
    name: "vercel",
    packages: ["ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible", "zod"],
    script: "vercel.mjs",
    dialects: ["chat", "responses", "messages", "compatible"]
  },
  {
    name: "openai-agents",
    packages: ["@openai/agents", "openai", "zod"],
    script: "openai-agents.mjs",
    dialects: ["chat", "responses"]
  },
  {
    name: "langchain",
    packages: ["langchain", "@langchain/core", "@langchain/openai", "@langchain/anthropic", "zod"],
    script: "langchain.mjs",
    dialects: ["chat", "responses", "messages"]
  }
]

interface Told {
  readonly whole: string
  readonly streamed: string
  readonly failures: ReadonlyArray<string>
}

describe.each(libraries)("the newest $name, unmodified", ({ name, packages, script, dialects }) => {
  let client: Installed | string = "not asked for yet"
  beforeAll(async () => void (client = await installed(name, packages)))

  it.live.each(dialects.flatMap((dialect) => judgedModels.map((model) => ({ dialect, model }))))(
    "does a task of three turns by $dialect on $model, whole and streamed",
    ({ dialect, model }, { skip }) =>
      withJudgedModels(({ url }) =>
        Effect.promise(async () => {
          if (typeof client === "string") return skip(client)
          const { stdout } = await run(
            process.execPath,
            [join(client.folder, script), `${url}/v1`, dialect, model, task],
            { cwd: client.folder, timeout: withinMs }
          )
          const told = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Told
          assert.deepStrictEqual(told.failures, [], JSON.stringify(client.versions))
          for (const text of [told.whole, told.streamed]) assert.include(text, "content of b.txt")
        })
      )
  )
})

interface Program {
  readonly name: string
  readonly packages: ReadonlyArray<string>
  /** What is run, with the home and the folder of work that it may write to. */
  readonly call: (at: Place) => Promise<Call>
  readonly order: string
}

interface Place {
  readonly url: string
  readonly model: string
  readonly work: string
  readonly home: string
}

interface Call {
  readonly args: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  /** What it reads from its standard input. */
  readonly input?: string
}

const programs: ReadonlyArray<Program> = [
  {
    name: "codex",
    packages: ["@openai/codex"],
    order:
      '!use exec_command {"cmd":"cat note.txt"}\n!use exec_command {"cmd":"ls -a"}\n!then\n!use exec_command {"cmd":"wc -c note.txt"}',
    call: async ({ url, model, home }) => {
      const provider = `[model_providers.starling]\nname = "starling"\nbase_url = "${url}/v1"\nwire_api = "responses"\n`
      await writeFile(join(home, "config.toml"), `model_provider = "starling"\napproval_policy = "never"\n${provider}`)
      const args = [
        "exec",
        "--skip-git-repo-check",
        "--sandbox",
        "danger-full-access",
        "-m",
        model,
        programs[0]?.order ?? ""
      ]
      return { args, environment: { CODEX_HOME: home } }
    }
  },
  {
    name: "claude",
    packages: ["@anthropic-ai/claude-code"],
    order: '!use Bash {"command":"cat note.txt && wc -c note.txt"}',
    call: async ({ url, model }) => ({
      args: ["-p", programs[1]?.order ?? "", "--model", model, "--allowedTools", "Bash,Read", "--max-turns", "6"],
      environment: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: "none",
        ANTHROPIC_SMALL_FAST_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
      }
    })
  },
  {
    name: "opencode",
    packages: ["opencode-ai"],
    order: '!use bash {"command":"cat note.txt && wc -c note.txt","description":"counts"}',
    call: async ({ url, model, work }) => {
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${url}/v1`, apiKey: "none" },
        models: { [model]: {} }
      }
      await writeFile(
        join(work, "opencode.json"),
        JSON.stringify({ provider: { starling: provider }, permission: { "*": "allow" } })
      )
      return { args: ["run", "-m", `starling/${model}`], input: programs[2]?.order ?? "" }
    }
  }
]

describe.each(programs)("the newest $name, unmodified", ({ name, packages, call }) => {
  let client: Installed | string = "not asked for yet"
  beforeAll(async () => void (client = await installed(name, packages)), 600_000)

  it.live.each(judgedModels.map((model) => ({ model })))(
    "reads a file by its own tools on $model",
    ({ model }, { skip }) =>
      withJudgedModels(({ url }) =>
        Effect.promise(async () => {
          if (typeof client === "string") return skip(client)
          const work = await mkdtemp(join(tmpdir(), `judge-${name}-`))
          const home = await mkdtemp(join(tmpdir(), `judge-${name}-home-`))
          await writeFile(join(work, "note.txt"), "the starling sings at dawn\n")
          const { args, environment = {}, input = "" } = await call({ url, model, work, home })
          const running = run(join(client.folder, "node_modules/.bin", name), args, {
            cwd: work,
            timeout: withinMs,
            env: { PATH: process.env["PATH"], HOME: home, ...environment }
          })
          running.child.stdin?.end(input)
          const { stdout } = await running
          // The task's last result, said again.
          assert.include(stdout, "27 note.txt", JSON.stringify(client.versions))
        })
      )
  )
})

describe("the newest compatcanary, unmodified", () => {
  let client: Installed | string = "not asked for yet"
  beforeAll(async () => void (client = await installed("compatcanary", ["compatcanary"])))

  it.live.each(judgedModels.map((model) => ({ model })))("gives $model all of its points", ({ model }, { skip }) =>
    withJudgedModels(({ url }) =>
      Effect.promise(async () => {
        if (typeof client === "string") return skip(client)
        const args = ["scan", "--base-url", `${url}/v1`, "--model", model, "--profile", "modern", "--api-key", "none"]
        const { stdout } = await run(join(client.folder, "node_modules/.bin/compatcanary"), args, { timeout: withinMs })
        assert.include(stdout, "Score: 100/100", stdout)
      })
    )
  )
})
