import { execFile } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterEach, assert, describe, it } from "@effect/vitest"

const root = join(import.meta.dirname, "../..")

/** A registry on loopback that knows of nothing but these advisories; without any it knows no such question. */
const startRegistry = async (advisories: Record<string, unknown> | undefined) => {
  const asked: Array<Record<string, unknown>> = []
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const isQuestion = request.method === "POST" && request.url?.endsWith("/security/advisories/bulk") === true
      if (!isQuestion || advisories === undefined) return response.writeHead(isQuestion ? 405 : 404).end("{}")
      const body = Buffer.concat(parts)
      const text = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body
      asked.push(JSON.parse(text.toString("utf8")) as Record<string, unknown>)
      return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(advisories))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { url, asked, end: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) }
}

const run = (registry: string) =>
  new Promise<{ readonly code: number; readonly out: string }>((resolve) => {
    const flags = [`--registry=${registry}`, "--fetch-retries=0"]
    execFile(process.execPath, ["dev/advisories.ts", ...flags], { cwd: root }, (error, out) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out })
    )
  })

describe("the audit of the lock file's packages at the registry", () => {
  const registries: Array<Awaited<ReturnType<typeof startRegistry>>> = []
  const start = async (advisories?: Record<string, unknown>) => {
    const registry = await startRegistry(advisories)
    registries.push(registry)
    return registry
  }
  afterEach(async () => {
    for (const registry of registries.splice(0)) await registry.end()
  })

  it("passes without advisories, and asks for the shipped packages separately", async () => {
    const { url, asked } = await start({})
    const { code, out } = await run(url)

    assert.strictEqual(code, 0)
    assert.include(out, "== advisories: none of high severity against what is shipped\n")
    const sizes = asked.map((packages) => Object.keys(packages).length).toSorted((left, right) => left - right)
    assert.lengthOf(sizes, 2)
    assert.isAbove(sizes[1] ?? 0, sizes[0] ?? 0)
    assert.isTrue(asked.every((packages) => "undici" in packages))
  })

  it("fails for a shipped package with an advisory of high severity, and names it", async () => {
    const advisory = { id: 1, url: "https://advisories.example/1", title: "Reads too far", severity: "high" }
    const { url } = await start({ undici: [{ ...advisory, vulnerable_versions: "*" }] })
    const { code, out } = await run(url)

    assert.strictEqual(code, 1)
    assert.include(out, "undici (high): Reads too far https://advisories.example/1")
  })

  it("is skipped, and says so, when the registry has no advisories", async () => {
    const { url } = await start()
    const { code, out } = await run(url)

    assert.strictEqual(code, 0)
    assert.match(out, /^== advisories: left out for what is shipped: 405 /u)
    assert.notInclude(out, url)
  })
})
