/** What a fleet of some hours holds, for pictures: endpoints that work and that do not, events, calls, items, tokens. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { exampleEnvelope, subjects } from "#base"
import { type Home, type RunningFleet, starling } from "../../dev/fixtures/starling.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { publishOver } from "./bus-contents.ts"

type Json = Readonly<Record<string, unknown>>

/** Receivers by their path: what each answers. */
const answers: Readonly<Record<string, (reply: (status: number, body?: string) => void) => void>> = {
  "/billing": (reply) => reply(204),
  "/crm": (reply) => reply(503, "upstream connect error or disconnect/reset before headers. reset reason: overflow"),
  "/warehouse": (reply) => reply(200, "queued"),
  "/legacy-ci": (reply) => reply(410, "this hook was removed"),
  // It never answers.
  "/search": () => undefined
}

const startReceivers = async () => {
  const server = createServer((request, response) => {
    request.resume()
    answers[request.url ?? ""]?.((status, body) => response.writeHead(status).end(body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    at: (path: string) => `http://127.0.0.1:${port}/${path}`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const endpointsAt = (at: (path: string) => string): ReadonlyArray<Json> => [
  { Name: "billing", Url: at("billing"), Description: "Invoices of finished work" },
  { Name: "warehouse", Url: at("warehouse"), EventFilter: ["work_item.*", "release.*"] },
  { Name: "crm-sync", Url: at("crm"), MaxAttempts: 2, InitialBackoffSeconds: 1, EventFilter: ["work_item.*"] },
  { Name: "legacy-ci", Url: at("legacy-ci"), EventFilter: ["merge.*"] },
  { Name: "search-index", Url: at("search"), MaxAttempts: 1, TimeoutSeconds: 1, EventFilter: ["release.*"] },
  // Nothing listens there.
  { Name: "staging-eu-west-1-notifications", Url: "http://127.0.0.1:9/hooks", MaxAttempts: 1, EventFilter: ["agent.*"] }
]

const published = [
  "work_item.working",
  "work_item.work_complete",
  "work_item.auditing",
  "audit.completed",
  "work_item.audit_passed",
  "work_item.merging",
  "merge.completed",
  "work_item.merged",
  "work_item.done",
  "release.created",
  "release.published",
  "agent.fallback",
  "queue.paused"
]

const questions = ["Why is the sky blue?", "Name three rivers of Wales.", "What is a monad, in one line?"]

/** Fills it; answers with what ends the receivers. */
export const fillFleet = async (fleet: RunningFleet, home: Home): Promise<() => void> => {
  const receivers = await startReceivers()
  const ask = async (path: string, body?: Json) => {
    const answer = await fetch(`${fleet.ready.console}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${fleet.ready.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { readonly items: ReadonlyArray<Json> }
  }
  for (const settings of endpointsAt(receivers.at)) await ask("/endpoints", { reason: "a new receiver", settings })
  for (const event of published) await ask("/events", { event, reason: "a day's work" })
  await rejectOne(fleet)
  for (const [label, role] of [
    ["release dashboard", "viewer"],
    ["on call", "admin"]
  ])
    await ask("/tokens", { reason: "a new reader", label, role, lifetimeSeconds: 90 * 86_400 })
  for (const question of questions) await starling(home, "pay", question, "--model", "demo/echo")
  await until(async () => (await ask("/abandoned")).items.length >= 3, { withinMs: startWithinMs })
  await ask("/endpoints/warehouse/pause", { reason: "moves to a new rack until 14:00" })
  return receivers.stop
}

/** A message in REJECTED, as the fan-out puts it there. */
const rejectOne = (fleet: RunningFleet) =>
  publishOver(fleet.busAs("webhook-dispatcher"), subjects.rejected("events"), {
    origin: "events",
    subject: subjects.event("queue.paused"),
    sequence: null,
    faults: [{ path: "/details/reason", message: "is missing" }],
    receivedAt: new Date().toISOString(),
    payloadBase64: Buffer.from(JSON.stringify(exampleEnvelope("queue.paused"))).toString("base64"),
    truncated: false
  })
