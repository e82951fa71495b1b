/** The programs of docs/publish-events.md with the official NATS client of each language, in its newest version. */
import { execFile } from "node:child_process"
import { cp, mkdir, writeFile } from "node:fs/promises"
import { delimiter, join, resolve } from "node:path"
import { existsSync } from "node:fs"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { publishingFiles } from "../../services/cli/documents.ts"
import { assertPublished, type PublishersFleet, startPublishersFleet } from "../support/publishers.ts"
import { judgesFolder } from "./client-packages.ts"

interface Language {
  /** All of these must be on the machine. */
  readonly programs: ReadonlyArray<string>
  readonly manifest?: readonly [path: string, text: string]
  /** Where the program goes. */
  readonly file: string
  /** Gets the client, in a folder that keeps it. */
  readonly install: string
  readonly build?: string
  readonly run: readonly [string, ...Array<string>]
}

const languages: Readonly<Record<string, Language>> = {
  Python: {
    programs: ["python3"],
    file: "publish.py",
    install: "python3 -m venv . && bin/python -m pip install -q --disable-pip-version-check --upgrade nats-py",
    run: ["bin/python", "publish.py"]
  },
  Go: {
    programs: ["go"],
    manifest: ["go.mod", "module publish\n\ngo 1.25\n"],
    file: "publish.go",
    install: "go mod tidy && go mod download",
    build: "go build -o publish .",
    run: ["./publish"]
  },
  Java: {
    programs: ["mvn", "java", "javac"],
    manifest: [
      "pom.xml",
      `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>publish</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>io.nats</groupId><artifactId>jnats</artifactId><version>[2.26,3)</version></dependency>
  </dependencies>
</project>`
    ],
    file: "Publish.java",
    install: "mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib",
    build: "javac -encoding UTF-8 -cp 'lib/*' -d . Publish.java",
    run: ["java", "-cp", `.${delimiter}lib/*`, "Publish"]
  },
  Rust: {
    programs: ["cargo"],
    manifest: [
      "Cargo.toml",
      `[package]
name = "publish"
version = "0.0.0"
edition = "2021"

[dependencies]
async-nats = "0"
chrono = "0.4"
nuid = "0.5"
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
`
    ],
    file: "src/main.rs",
    install: "cargo fetch -q",
    build: "cargo build -q --offline",
    run: ["target/debug/publish"]
  }
}

const isThere = (program: string) =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)))

const inShell = (command: string, cwd: string, more: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)("sh", ["-c", command], { cwd, env: { ...process.env, ...more } })

/** The folder with the program ready to run. */
const installed = async (name: string, { manifest, file, install, build }: Language, skip: (why: string) => never) => {
  const folder = join(judgesFolder, `publish-${name.toLowerCase()}`)
  await mkdir(join(folder, file, ".."), { recursive: true })
  if (manifest !== undefined) await writeFile(join(folder, manifest[0]), manifest[1])
  await cp(publishingFiles.find(({ title }) => title === name)?.path ?? "", join(folder, file))
  await inShell(install, folder).catch((error: unknown) =>
    skip(`the client cannot be had: ${String(error).slice(0, 300)}`)
  )
  if (build !== undefined) await inShell(build, folder)
  return folder
}

let fleet: PublishersFleet
beforeAll(async () => {
  fleet = await startPublishersFleet()
})
afterAll(() => fleet?.stop())

describe("the program that publishes", () => {
  for (const [name, language] of Object.entries(languages)) {
    const missing = language.programs.filter((program) => !isThere(program))
    const where = missing.length === 0 ? "" : ` (skipped: no ${missing.join(", ")} on this machine)`
    it.skipIf(missing.length > 0)(
      `in ${name} is answered with place, duplicate and fault, and reads back${where}`,
      async ({ skip }) => {
        assertPublished(await fleet.run(language.run, { folder: await installed(name, language, skip) }))
      }
    )
  }

  const lacksGo = !isThere("nats") && !isThere("go")
  it.skipIf(lacksGo)("by the nats CLI is answered the same, and reads back", async () => {
    const folder = join(judgesFolder, "publish-nats")
    await mkdir(folder, { recursive: true })
    if (!isThere("nats")) await inShell("go install github.com/nats-io/natscli/nats@latest", folder, { GOBIN: folder })
    const variables = { PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}` }
    const script = resolve("dev/examples/publish/nats.sh")
    const [first = "", again = "", refused = "", read = ""] = await fleet.run(["sh", script], { variables })
    const { sequence } = JSON.parse(first) as { readonly sequence: number }
    assert.deepStrictEqual(JSON.parse(again), { _tag: "Stored", sequence, duplicate: true })
    assert.match(refused, /"path":"\/details\/id"/u)
    assert.deepInclude(JSON.parse(read), { event: "order.created", details: { id: "A-1" } })
  })
})
