/**
 * The one table of rooms: which rooms each may import, and which packages each may use. A room is entered by the `#`
 * names that package.json gives it, and by nothing else. A new room is a line here, and its names there.
 */

export interface Room {
  /** The room's content. */
  readonly holds: string
  /** The names of the rooms that it may import. */
  readonly knows: ReadonlyArray<string>
  /** Packages beyond `effect` and Node's own. `scope/*` is the whole scope. */
  readonly packages?: ReadonlyArray<string>
  /** Data only: not even Node's own modules. */
  readonly isPure?: true
  /** It runs in browsers: of rooms that do not, and of Effect, it takes types alone. */
  readonly isInBrowser?: true
  /** It may also import inner files of the rooms it knows, and use any package. Tests do. */
  readonly looksInside?: true
}

const contracts = [
  "libs/events/contract",
  "libs/pipeline/contract",
  "libs/webhooks/contract",
  "libs/payments/contract",
  "libs/gateway/contract",
  "libs/speech/contract",
  "libs/console/contract"
]
const runtime = ["libs/base", "libs/runtime"]
const bus = [...runtime, "libs/bus"]
const pipeline = [...bus, "libs/actors", "libs/events/contract", "libs/pipeline/contract", "libs/pipeline"]
const events = [...bus, "libs/events/contract", "libs/events/cloudevents", "libs/events"]
const webhooks = [...events, "libs/webhooks/contract", "libs/webhooks"]
const payments = [...bus, "libs/egress", "libs/payments/contract", "libs/payments"]
const speech = [...runtime, "libs/speech/contract", "libs/speech/audio", "libs/speech"]
const voices = [...speech, "libs/speech/cloning"]
/** What a role stands on, whatever its product. */
const role = [...bus, "libs/configuration"]
const libs = [
  ...new Set([
    ...role,
    ...contracts,
    ...pipeline,
    ...webhooks,
    ...payments,
    ...voices,
    "libs/http",
    "libs/console/readings",
    "libs/console/words",
    "libs/console/conditions",
    "libs/console/history"
  ])
]
const roles = [
  "services/pipeline-api",
  "services/webhook-dispatcher",
  "services/sweeper",
  "services/model-gateway",
  "services/payment-verifier",
  "services/payment-settler",
  "services/speech-api",
  "services/speech-sequencer",
  "services/speech-synthesizer",
  "services/console"
]
const world = ["dev/chain", "dev/upstream", "dev/receiver", "dev/runner", "dev/page"]

/** Keyed by folder; a file belongs to the room with the longest matching path. */
export const rooms: Readonly<Record<string, Room>> = {
  "libs/base": {
    holds: "what all products share: small shapes, subjects, the envelope, how routes and settings are declared",
    knows: [],
    packages: ["effect/http", "effect/http-api"],
    isPure: true
  },
  "libs/runtime": {
    holds: "logs, metrics, health, drain, child processes",
    knows: ["libs/base"],
    packages: ["prom-client"]
  },
  "libs/bus": {
    holds: "the broker: topology, publish, consume, request, KV, relays",
    knows: runtime,
    packages: ["@nats-io/*"]
  },
  "libs/egress": {
    holds: "every call to another host; the address guard",
    knows: runtime,
    packages: ["undici"]
  },
  "libs/http": {
    holds: "the listener: authentication, idempotency, rate limits, uploads",
    knows: bus,
    packages: ["effect/http", "effect/http-api", "effect/socket", "@effect/platform-node"]
  },
  "libs/actors": { holds: "actors on the log: decide, append, project", knows: bus },
  "libs/pipeline/contract": {
    holds: "the pipeline's messages, HTTP API and settings",
    knows: ["libs/base", "libs/events/contract"],
    packages: ["effect/http", "effect/http-api"],
    isPure: true
  },
  "libs/pipeline": {
    holds: "the pipeline's actors: commands, facts, state, decisions, events; pure",
    knows: ["libs/base", "libs/actors", "libs/pipeline/contract"]
  },
  "libs/events/cloudevents": {
    holds: "CloudEvents 1.0, read into envelopes and made of them; pure",
    knows: ["libs/base"],
    isPure: true
  },
  "libs/events/contract": {
    holds: "event types and their settings",
    knows: ["libs/base"],
    isPure: true
  },
  "libs/events": {
    holds: "which events a deployment's services may publish, by whom, and in which shape",
    knows: [...bus, "libs/events/contract", "libs/events/cloudevents"],
    packages: ["json-schema-library", "re2js"]
  },
  "libs/webhooks/contract": {
    holds: "the messages, records and settings of webhooks, and their verification",
    knows: ["libs/base"],
    isPure: true
  },
  "libs/webhooks": {
    holds: "deliveries and webhook endpoints as the bus keeps them",
    knows: [...events, "libs/webhooks/contract"]
  },
  "libs/payments/contract": {
    holds: "the messages, records and settings of payments",
    knows: ["libs/base"],
    isPure: true
  },
  "libs/payments": {
    holds: "schemes, chains, claims, quotes, settlement",
    knows: [...bus, "libs/egress", "libs/payments/contract"],
    packages: ["@bitauth/libauth", "@noble/hashes", "@solana/kit", "koffi", "viem"]
  },
  "libs/gateway/contract": {
    holds: "the gateway's HTTP API and settings",
    knows: ["libs/base", "libs/payments/contract"],
    packages: ["effect/http", "effect/http-api"],
    isPure: true
  },
  "libs/speech/contract": {
    holds: "the messages, HTTP API and settings of speech",
    knows: ["libs/base"],
    packages: ["effect/http", "effect/http-api"],
    isPure: true
  },
  "libs/speech/audio": {
    holds: "formats, samples, encoders, recordings",
    knows: [...runtime, "libs/speech/contract"],
    packages: ["koffi"]
  },
  "libs/speech": {
    holds: "text, SSML, lexicons, engines, word times, voices, admission",
    knows: [...runtime, "libs/speech/contract", "libs/speech/audio"],
    packages: ["koffi", "n2words", "saxes", "sherpa-onnx-node", "node:module"]
  },
  "libs/speech/book": {
    holds: "the text of a book: chapters, passages, turns; pure",
    knows: speech,
    packages: ["@lezer/common", "@lezer/markdown", "htmlparser2", "n2words"]
  },
  "libs/speech/cloning": {
    holds: "consent, speaker check, voice measures",
    knows: speech,
    packages: ["sherpa-onnx-node", "node:module"]
  },
  "libs/console/contract": {
    holds: "the console's HTTP API and settings",
    knows: [
      "libs/base",
      "libs/webhooks/contract",
      "libs/payments/contract",
      "libs/gateway/contract",
      "libs/speech/contract"
    ],
    packages: ["effect/http", "effect/http-api"],
    isPure: true
  },
  "libs/console/readings": {
    holds: "the fleet as its processes show it: metrics and readiness, joined to a frame",
    knows: runtime
  },
  "libs/console/words": {
    holds: "events, numbers, sizes and times in words, as terminals and the page show them",
    knows: [],
    isPure: true,
    isInBrowser: true
  },
  "libs/console/conditions": {
    holds: "what can be wrong with a fleet: the conditions of all products, seen in its readings",
    knows: [...runtime, ...contracts, "libs/console/readings"]
  },
  "libs/console/history": {
    holds: "what the fleet's readings showed, by the minute and by the hour, and what happened when",
    knows: [...runtime, "libs/console/contract", "libs/console/readings"]
  },
  "libs/configuration": {
    holds: "the whole configuration: the sections of all products, read, checked, explained",
    knows: [...runtime, ...contracts]
  },
  "services/pipeline-api": {
    holds: "work items, releases, projects, agents, queues",
    knows: [...role, ...events, ...pipeline, "libs/http"]
  },
  "services/webhook-dispatcher": {
    holds: "signed deliveries to receivers",
    knows: [...role, ...webhooks, "libs/egress"]
  },
  "services/sweeper": { holds: "what is due: quotas, budgets, watchdogs, retention", knows: [...role, ...pipeline] },
  "services/model-gateway": {
    holds: "paid model calls",
    knows: [...role, ...payments, "libs/gateway/contract", "libs/http"],
    packages: ["effect/encoding"]
  },
  "services/payment-verifier": { holds: "whether a payment would settle", knows: [...role, ...payments, "libs/http"] },
  "services/payment-settler": { holds: "settlement and its reconciliation", knows: [...role, ...payments] },
  "services/speech-api": {
    holds: "speech over HTTP",
    knows: [...role, ...voices, "libs/speech/book", "libs/http"],
    packages: ["@effect/platform-node"]
  },
  "services/speech-sequencer": { holds: "text into chunks, sound into a stream", knows: [...role, ...speech] },
  "services/speech-synthesizer": { holds: "the engines", knows: [...role, ...speech] },
  "services/console": {
    holds: "the operators' API and its page: what was sent, what was refused, and what to do about it",
    knows: [
      ...role,
      ...contracts,
      "libs/egress",
      "libs/events",
      "libs/webhooks",
      "libs/http",
      "libs/payments",
      "libs/console/readings",
      "libs/console/words",
      "libs/console/conditions",
      "libs/console/history"
    ]
  },
  "services/fleet": {
    holds: "roles in one process, the embedded broker, the local world",
    knows: [...libs, ...roles, ...world]
  },
  "services/cli": {
    holds: "the command line",
    knows: [...libs, "services/fleet", "services/speech-api", "dev/receiver", "dev/runner", "deploy"],
    packages: ["effect/cli", "effect/encoding", "effect/http", "effect/http-api", "@effect/platform-node"]
  },
  page: {
    holds: "the console's page, as browsers run it; of the contracts it takes types alone",
    knows: ["libs/base", ...contracts, "libs/console/words"],
    packages: ["effect/http", "effect/http-api", "react", "react-dom", "uplot", "wouter"],
    isPure: true,
    isInBrowser: true
  },
  "dev/chain": {
    holds: "chains of this machine",
    knows: [...runtime, "libs/payments/contract", "libs/payments"],
    packages: ["@solana/kit", "litesvm", "solc", "node:module"]
  },
  "dev/upstream": { holds: "a model provider of this machine", knows: [] },
  "dev/receiver": { holds: "a receiver of webhooks", knows: ["libs/base"] },
  "dev/hearing": {
    holds: "judges of speech: the words and phonemes that are heard in it",
    knows: [],
    packages: ["n2words"]
  },
  "dev/runner": { holds: "a reference runner on git repositories", knows: [...bus, "libs/pipeline/contract"] },
  "dev/examples": {
    holds: "a receiver, a publisher, what verifies webhooks, and clients that pay, for who writes their own",
    knows: ["libs/base", "libs/webhooks/contract"],
    packages: [
      "@nats-io/*",
      "@ai-sdk/openai-compatible",
      "@anthropic-ai/sdk",
      "@langchain/openai",
      "@x402/*",
      "ai",
      "openai",
      "viem"
    ]
  },
  "dev/page": { holds: "builds the console's page", knows: [], packages: ["esbuild"] },
  "dev/program": { holds: "bundles the programs", knows: [], packages: ["esbuild"] },
  "dev/fixtures": {
    holds: "brokers, fleets and payments that tests and load tests stand on",
    knows: [...payments, "libs/pipeline/contract", "dev/chain"],
    packages: ["@x402/*", "viem", "yaml"]
  },
  "dev/faults": {
    holds: "faults of a running fleet and their mends, as tests and load tests play them",
    knows: [...runtime, "dev/chain", "dev/fixtures", "dev/upstream"],
    packages: ["@nats-io/*"]
  },
  dev: {
    holds: "checks, tests, mutants, installers",
    knows: [],
    packages: ["oxc-parser", "recheck", "typescript", "vite", "vitest", "node:module"]
  },
  deploy: {
    holds: "images, manifests, backup, the doctor of clusters, the package of the contracts",
    knows: [
      "libs/base",
      "libs/bus",
      ...contracts,
      "libs/console/readings",
      "libs/console/conditions",
      "libs/configuration",
      "dev/page",
      "dev/program"
    ],
    packages: ["@nats-io/*", "esbuild", "yaml"]
  },
  "load-tests": {
    holds: "scenarios, figures, reports",
    knows: [
      ...libs,
      "services/pipeline-api",
      "services/sweeper",
      "dev/chain",
      "dev/upstream",
      "dev/fixtures",
      "dev/faults",
      "dev/hearing"
    ],
    packages: ["@effect/platform-node", "@nats-io/*", "@x402/*", "express", "ioredis", "undici", "viem"]
  },
  test: { holds: "tests, as the tree is", knows: [], looksInside: true }
}

/** The room of a path, from the root of the tree. */
export const roomOf = (path: string): string | undefined => {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const folder = path.slice(0, end)
    if (Object.hasOwn(rooms, folder)) return folder
  }
  return undefined
}

const namesOf = (room: string, entrances: Readonly<Record<string, string>>) =>
  Object.entries(entrances)
    .filter(([, target]) => roomOf(target.replace(/^\.\//u, "")) === room)
    .map(([name]) => `\`${name}\``)

/** The table as docs/architecture.md shows it. `entrances`: the imports of package.json. */
export const roomTable = (entrances: Readonly<Record<string, string>>): string => {
  const short = (room: string) => room.replace(/^(?:libs|services)\//u, "")
  const rows = Object.entries(rooms).map(([path, room]) => {
    const knows = room.looksInside ? "every room, and its inside" : room.knows.map(short).join(", ")
    const packages = room.looksInside ? "any" : (room.packages ?? []).join(", ")
    return `| \`${path}\` | ${room.holds} | ${namesOf(path, entrances).join(" ")} | ${knows} | ${packages} |`
  })
  return ["| room | holds | entered by | knows | packages of its own |", "|---|---|---|---|---|", ...rows].join("\n")
}
