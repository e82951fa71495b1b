import { copyFileSync, readFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import type { TLSSocket } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { WebhookEndpoints } from "#webhooks"
import { natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { newAuthority, type Signed } from "../../support/certificates.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { attemptRecords, publish } from "../../support/webhooks.ts"
import { operator } from "../../support/operator.ts"

const by = "tester"
const newAuthorityOfTest = Effect.acquireRelease(Effect.sync(newAuthority), ({ remove }) => Effect.sync(remove))
const read = ({ certificate, key }: Signed) => ({
  tlsCertificate: readFileSync(certificate, "utf8"),
  tlsKey: readFileSync(key, "utf8")
})

/** Takes only those with a certificate of the authority; notes who they are, a line each request. */
const startStrictReceiver = (authority: ReturnType<typeof newAuthority>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly clients: Array<string>; readonly close: () => void }>((resume) => {
      const own = authority.sign("localhost")
      const clients: Array<string> = []
      const options = {
        cert: readFileSync(own.certificate),
        key: readFileSync(own.key),
        ca: readFileSync(authority.caFile),
        requestCert: true
      }
      const server = createServer(options, (request, response) => {
        request.resume()
        clients.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
        response.writeHead(204).end()
      })
      server.listen(0, "127.0.0.1", () => {
        const url = `https://localhost:${(server.address() as AddressInfo).port}/hook`
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url, clients, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const patience = { MaxAttempts: 20, InitialBackoffSeconds: 0.2 }

describe("a receiver that asks for a certificate of its own authority", () => {
  it.live("is served once an endpoint made at run time has one, and by the next one after a rotation", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const authority = yield* newAuthorityOfTest
      const receiver = yield* startStrictReceiver(authority)
      const tlsCa = readFileSync(authority.caFile, "utf8")
      yield* whileDispatching(
        server,
        { endpoints: [] },
        Effect.gen(function* () {
          const at = yield* WebhookEndpoints
          const settings = { Name: "strict", Url: receiver.url, ...patience, RetrySchedule: "exponential" }
          yield* at.create({ settings, by })
          yield* publish("work_item.merged")
          const errors = yield* eventually(attemptRecords, { is: (log) => log.length > 0 })
          assert.include(String(errors[0]?.error), "SELF_SIGNED_CERT_IN_CHAIN")
          yield* at.rotate({ name: "strict", by, overlapMs: 0, credentials: { tlsCa } })
          yield* eventually(attemptRecords, {
            is: (log) => log.some(({ error }) => /reset|CERTIFICATE_REQUIRED/u.test(String(error)))
          })
          const first = read(authority.sign("first.example"))
          yield* at.rotate({ name: "strict", by, overlapMs: 0, credentials: first })
          yield* eventually(() => receiver.clients, { is: (clients) => clients.includes("first.example") })
          const second = read(authority.sign("second.example"))
          const shown = yield* at.rotate({ name: "strict", by, overlapMs: 0, credentials: second })
          assert.sameMembers([...shown.credentialNames], ["tlsCa", "tlsCertificate", "tlsKey"])
          assert.include(JSON.stringify(shown.certificates), "CN=second.example")
          assert.notInclude(JSON.stringify(shown), "PRIVATE KEY")
          yield* eventually(
            Effect.map(publish("work_item.merged"), () => receiver.clients),
            { is: (clients) => clients.at(-1) === "second.example" }
          )
          assert.notInclude(JSON.stringify(yield* attemptRecords), "BEGIN")
        }).pipe(Effect.provide(operator))
      )
    })
  )

  it.live("is served by files of the configuration, and goes on when they are renewed", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const authority = yield* newAuthorityOfTest
      const receiver = yield* startStrictReceiver(authority)
      const mounted = authority.sign("first.example", "mounted")
      const endpoint = {
        Name: "strict",
        Url: receiver.url,
        ...patience,
        TlsCaFile: authority.caFile,
        TlsCertificateFile: mounted.certificate,
        TlsKeyFile: mounted.key
      }
      yield* whileDispatching(
        server,
        { endpoints: [endpoint] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* eventually(() => receiver.clients, { is: (clients) => clients.includes("first.example") })
          const next = authority.sign("second.example")
          copyFileSync(next.certificate, mounted.certificate)
          // Until the key follows, the two do not fit, and the old ones stay in use.
          yield* publish("work_item.merged")
          copyFileSync(next.key, mounted.key)
          yield* eventually(
            Effect.map(publish("work_item.merged"), () => receiver.clients),
            { is: (clients) => clients.at(-1) === "second.example", withinMs: 30_000 }
          )
          const log = yield* attemptRecords
          assert.isEmpty(log.filter(({ outcome }) => outcome !== "delivered"))
        })
      )
    })
  )
})
