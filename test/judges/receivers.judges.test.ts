/** Servers of others on the way of a webhook: nginx that verifies clients, and tinyproxy. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { WebhookEndpoints } from "#webhooks"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { type Authority, newAuthority, type Signed } from "../support/certificates.ts"
import { whileDispatching } from "../support/dispatcher.ts"
import { operator } from "../support/operator.ts"
import { startReceiver } from "../support/receiver.ts"
import { attemptRecords, publish, setUp } from "../support/webhooks.ts"
import { folderOfTest, nginx, serverProgram, startServer, tinyproxy } from "./server-programs.ts"

const by = "tester"
const [webServer, proxyServer] = await Promise.all([serverProgram(nginx), serverProgram(tinyproxy)])
const lacks = (...all: ReadonlyArray<object | string>) => {
  const reasons = all.filter((each) => typeof each === "string")
  return { isSkipped: reasons.length > 0, why: reasons.length === 0 ? "" : ` (skipped: ${reasons.join("; ")})` }
}

const authorityOfTest = Effect.acquireRelease(Effect.sync(newAuthority), ({ remove }) => Effect.sync(remove))
const read = ({ certificate, key }: Signed) => ({
  tlsCertificate: readFileSync(certificate, "utf8"),
  tlsKey: readFileSync(key, "utf8")
})

/** Takes only clients that the authority signed; its log has a line each request. */
const startNginx = Effect.fnUntraced(function* (authority: Authority) {
  const folder = yield* folderOfTest
  const port = yield* Effect.promise(freePort)
  const own = authority.sign("localhost")
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
  const lines = [
    "daemon off; master_process off; pid nginx.pid; error_log error.log;",
    "events { }",
    "http {",
    ...temporary.map((kind) => `${kind}_temp_path ${kind};`),
    "log_format clients '$status $ssl_client_s_dn'; access_log clients.log clients;",
    `server { listen 127.0.0.1:${port} ssl; server_name localhost;`,
    `ssl_certificate ${own.certificate}; ssl_certificate_key ${own.key};`,
    `ssl_client_certificate ${authority.caFile}; ssl_verify_client on;`,
    "location / { return 204; } } }"
  ]
  writeFileSync(join(folder, "nginx.conf"), lines.join("\n"))
  const path = (webServer as { readonly path: string }).path
  yield* startServer(path, ["-p", folder, "-c", "nginx.conf", "-e", "error.log"], port)
  const log = () => readFileSync(join(folder, "clients.log"), "utf8").trimEnd().split("\n")
  return { port, url: `https://localhost:${port}/hook`, log }
})

const patience = { MaxAttempts: 20, InitialBackoffSeconds: 0.2 }

const withNginx = lacks(webServer)
describe.skipIf(withNginx.isSkipped)(`nginx that verifies clients by a private authority${withNginx.why}`, () => {
  it.live("refuses without a certificate and with a stranger's, and takes each that is rotated in by the API", () =>
    Effect.gen(function* () {
      const { server } = yield* setUp
      const [authority, others] = [yield* authorityOfTest, yield* authorityOfTest]
      const receiver = yield* startNginx(authority)
      yield* whileDispatching(
        server,
        { endpoints: [] },
        Effect.gen(function* () {
          const at = yield* WebhookEndpoints
          const rotate = (credentials: Readonly<Record<string, string>>) =>
            at.rotate({ name: "strict", by, overlapMs: 0, credentials })
          const tried = (is: (record: Readonly<Record<string, unknown>>) => boolean) =>
            eventually(attemptRecords, { is: (log) => log.some(is) })
          yield* at.create({ settings: { Name: "strict", Url: receiver.url, ...patience }, by })
          yield* publish("work_item.merged")
          yield* tried(({ error }) => String(error).includes("UNABLE_TO_VERIFY_LEAF_SIGNATURE"))
          yield* rotate({ tlsCa: readFileSync(authority.caFile, "utf8") })
          yield* tried(({ responseBody }) => String(responseBody).includes("No required SSL certificate was sent"))
          yield* rotate(read(others.sign("stranger.example")))
          yield* tried(({ responseBody }) => String(responseBody).includes("The SSL certificate error"))
          for (const name of ["first.example", "second.example"]) {
            yield* rotate(read(authority.sign(name)))
            yield* eventually(Effect.map(publish("work_item.merged"), receiver.log), {
              is: (log) => log.at(-1) === `204 CN=${name}`
            })
          }
        }).pipe(Effect.provide(operator))
      )
    })
  )

  it.live("is delivered to with files of the configuration, and with those that replace them, at first attempts", () =>
    Effect.gen(function* () {
      const { server } = yield* setUp
      const authority = yield* authorityOfTest
      const receiver = yield* startNginx(authority)
      const mounted = authority.sign("first.example", "mounted")
      const files = { TlsCaFile: authority.caFile, TlsCertificateFile: mounted.certificate, TlsKeyFile: mounted.key }
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "strict", Url: receiver.url, ...patience, ...files }] },
        Effect.gen(function* () {
          const until = (line: string) =>
            eventually(Effect.map(publish("work_item.merged"), receiver.log), {
              is: (log) => log.at(-1) === line,
              withinMs: 60_000
            })
          yield* until("204 CN=first.example")
          const next = authority.sign("second.example")
          copyFileSync(next.certificate, mounted.certificate)
          copyFileSync(next.key, mounted.key)
          yield* until("204 CN=second.example")
          assert.isEmpty(
            (yield* attemptRecords).filter(({ outcome, attempt }) => outcome !== "delivered" || attempt !== 1)
          )
        })
      )
    })
  )
})

/** Lets in one user, and tunnels to these ports. */
const startTinyproxy = Effect.fnUntraced(function* (user: string, ports: ReadonlyArray<number>) {
  const folder = yield* folderOfTest
  const port = yield* Effect.promise(freePort)
  const log = join(folder, "proxy.log")
  const lines = [
    `Port ${port}`,
    "Listen 127.0.0.1",
    "Allow 127.0.0.1",
    `LogFile "${log}"`,
    "LogLevel Connect",
    `BasicAuth ${user}`,
    ...ports.map((each) => `ConnectPort ${each}`)
  ]
  writeFileSync(join(folder, "tinyproxy.conf"), lines.join("\n"))
  yield* startServer(
    (proxyServer as { readonly path: string }).path,
    ["-d", "-c", join(folder, "tinyproxy.conf")],
    port
  )
  return { url: `http://127.0.0.1:${port}`, log: () => readFileSync(log, "utf8") }
})

const withProxy = lacks(webServer, proxyServer)
describe.skipIf(withProxy.isSkipped)(`tinyproxy with credentials${withProxy.why}`, () => {
  it.live("is the way to receivers of http and https; what it refuses, or its absence, is each attempt's error", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const closed = yield* startReceiver
      const authority = yield* authorityOfTest
      const strict = yield* startNginx(authority)
      const portOf = (url: string) => Number(new URL(url).port)
      const proxy = yield* startTinyproxy("us of-the-proxy", [portOf(receiver.url("/")), strict.port])
      const nobody = `http://127.0.0.9:${yield* Effect.promise(freePort)}`
      const own = authority.sign("us.example")
      const files = { TlsCaFile: authority.caFile, TlsCertificateFile: own.certificate, TlsKeyFile: own.key }
      const wrong = { ProxyUrl: proxy.url, ProxyUsername: "us", ProxyPasswordEnvVar: "WRONG" }
      const endpoints = [
        { Name: "http", Url: receiver.url("/http") },
        { Name: "https", Url: strict.url, ...files },
        { Name: "unknown", Url: receiver.url("/unknown"), ...wrong },
        { Name: "closed", Url: closed.url("/closed") },
        { Name: "away", Url: receiver.url("/away"), ProxyUrl: nobody },
        { Name: "private", Url: "http://10.1.2.3/hook" }
      ].map((each) => ({ ...each, MaxAttempts: 1 }))
      const delivery = {
        ProxyUrl: proxy.url,
        ProxyUsername: "us",
        ProxyPasswordEnvVar: "PASSWORD",
        ProxyAllowCidrs: ["127.0.0.0/8"]
      }
      const environment = { PASSWORD: "of-the-proxy", WRONG: "of-another" }
      yield* whileDispatching(
        server,
        { endpoints, delivery, environment },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          const log = yield* eventually(attemptRecords, { is: (all) => all.length >= endpoints.length })
          const told = Object.fromEntries(log.map(({ endpoint, outcome, error }) => [endpoint, error ?? outcome]))
          const unreachable = "Unreachable: connect:"
          const at = (url: string) => `127.0.0.1:${portOf(url)}`
          assert.deepStrictEqual(told, {
            http: "delivered",
            https: "delivered",
            // 401 here where others answer 407.
            unknown: `${unreachable} the proxy ${proxy.url} answered 401 to CONNECT ${at(receiver.url("/"))}`,
            closed: `${unreachable} the proxy ${proxy.url} answered 403 to CONNECT ${at(closed.url("/"))}`,
            away: `${unreachable} 127.0.0.9 ECONNREFUSED`,
            private:
              "AddressRefused: 10.1.2.3 is 10.1.2.3, in the range private (10.0.0.0/8), which may not be called; AllowCidrs can open it"
          })
          assert.deepStrictEqual(strict.log(), ["204 CN=us.example"])
          assert.deepStrictEqual(
            receiver.requests.map(({ path }) => path),
            ["/http"]
          )
          assert.isEmpty(closed.requests)
          for (const to of [at(receiver.url("/")), `127.0.0.1:${strict.port}`]) {
            assert.include(proxy.log(), `CONNECT ${to}`)
          }
          assert.notInclude(proxy.log(), "10.1.2.3")
        })
      )
    })
  )
})
