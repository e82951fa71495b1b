/** The dispatcher as a process on a broker of each test's own, and the receiver that it calls. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach } from "@effect/vitest"
import { Effect } from "effect"
import { Publisher } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { busOn } from "../../dev/fixtures/bus.ts"
import { startNatsServer, type TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { endRoles, type RoleOptions, startRole } from "./role.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"

interface Scene {
  nats: TestNatsServer
  /** How the receiver answers from now on. */
  answer: (response: ServerResponse, path: string) => void
  requests: Array<string>
  heard: Array<{ readonly event: string; readonly deliveryId: string }>
}

export const scene = {} as Scene
const receiver = createServer((request, response) => {
  request.resume()
  request.on("end", () => {
    scene.requests.push(request.url ?? "")
    const { "x-service-event": event, "x-service-delivery": deliveryId } = request.headers
    scene.heard.push({ event: String(event), deliveryId: String(deliveryId) })
    scene.answer(response, request.url ?? "")
  })
})
export const receiverUrl = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`

/** To be called once in a file of tests. */
export const setUpEachTest = () => {
  beforeEach(async () => {
    scene.nats = await startNatsServer()
    scene.requests = []
    scene.heard = []
    scene.answer = (response) => void response.writeHead(204).end()
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  })
  afterEach(async () => {
    await endRoles()
    await scene.nats.stop()
    await new Promise<void>((resolve) => {
      receiver.close(() => resolve())
      receiver.closeAllConnections()
    })
  })
}

export const endpoint = (changes: Readonly<Record<string, unknown>> = {}) => ({
  Name: "a",
  Url: receiverUrl("/a"),
  InitialBackoffSeconds: 0.1,
  MaxAttempts: 2,
  ...changes
})

export const dispatcher = (
  endpoints: ReadonlyArray<unknown>,
  environment: RoleOptions["environment"] = {},
  sections: Readonly<Record<string, unknown>> = {}
) => {
  const configuration = {
    Webhooks: endpoints,
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] },
    Bus: { Url: scene.nats.url },
    ...sections
  }
  return startRole("webhook-dispatcher", { configuration, environment })
}

export const ready = async (...parameters: Parameters<typeof dispatcher>) => {
  const role = await dispatcher(...parameters)
  await until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs })
  return role
}

export const publish = (...events: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const publisher = yield* Publisher
    for (const event of events) {
      const body = new TextEncoder().encode(JSON.stringify(exampleEnvelope(event)))
      yield* publisher.publishRaw(subjects.event(event), body)
    }
  }).pipe(Effect.provide(busOn(scene.nats)), Effect.scoped, Effect.runPromise)
