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
  /** It runs in browsers: of other rooms, and of Effect, it takes types alone. */
  readonly isInBrowser?: true
  /** It may also import inner files of the rooms it knows, and use any package. Tests do. */
  readonly looksInside?: true
}

const bus = ["libs/contracts", "libs/runtime", "libs/bus"]
const pipeline = [...bus, "libs/actors", "libs/pipeline"]
const payments = [...bus, "libs/egress", "libs/x402"]
const speech = [...bus, "libs/audio", "libs/speech"]
const voices = [...speech, "libs/voice-cloning"]
const libs = [...new Set([...pipeline, ...payments, ...voices, "libs/webhooks", "libs/http", "libs/fleet-view"])]
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
  "libs/contracts": {
    holds: "schemas, events, subjects, settings: data only",
    knows: [],
    packages: ["effect/http", "effect/http-api"],
    isPure: true
  },
  "libs/runtime": {
    holds: "configuration, logs, metrics, health, drain, child processes",
    knows: ["libs/contracts"],
    packages: ["prom-client"]
  },
  "libs/bus": {
    holds: "the broker: topology, publish, consume, request, KV, relays",
    knows: ["libs/contracts", "libs/runtime"],
    packages: ["@nats-io/*"]
  },
  "libs/egress": {
    holds: "every call to another host; the address guard",
    knows: ["libs/contracts", "libs/runtime"],
    packages: ["undici"]
  },
  "libs/actors": { holds: "actors on the log: decide, append, project", knows: bus },
  "libs/webhooks": { holds: "deliveries and webhook endpoints as the bus keeps them", knows: bus },
  "libs/pipeline": {
    holds: "the pipeline's actors: commands, facts, state, decisions, events; pure",
    knows: ["libs/contracts", "libs/actors"]
  },
  "libs/http": {
    holds: "the listener: authentication, idempotency, rate limits, uploads",
    knows: bus,
    packages: ["effect/http", "effect/http-api", "effect/socket", "@effect/platform-node"]
  },
  "libs/fleet-view": {
    holds: "the fleet as its processes show it: metrics and readiness, joined to a frame",
    knows: ["libs/contracts", "libs/runtime"]
  },
  "libs/audio": {
    holds: "formats, samples, encoders, recordings",
    knows: ["libs/contracts", "libs/runtime"],
    packages: ["koffi"]
  },
  "libs/speech": {
    holds: "text, SSML, lexicons, engines, word times, voices, admission",
    knows: ["libs/contracts", "libs/runtime", "libs/audio"],
    packages: ["koffi", "saxes", "sherpa-onnx-node", "node:module"]
  },
  "libs/voice-cloning": {
    holds: "consent, speaker check, voice measures",
    knows: ["libs/contracts", "libs/runtime", "libs/audio", "libs/speech"],
    packages: ["sherpa-onnx-node", "node:module"]
  },
  "libs/x402": {
    holds: "schemes, chains, claims, quotes, settlement",
    knows: [...bus, "libs/egress"],
    packages: ["@bitauth/libauth", "@noble/hashes", "koffi"]
  },
  "services/pipeline-api": {
    holds: "work items, releases, projects, agents, queues",
    knows: [...pipeline, "libs/http"]
  },
  "services/webhook-dispatcher": {
    holds: "signed deliveries to receivers",
    knows: [...bus, "libs/egress", "libs/webhooks"]
  },
  "services/sweeper": { holds: "what is due: quotas, budgets, watchdogs, retention", knows: pipeline },
  "services/model-gateway": {
    holds: "paid model calls",
    knows: [...payments, "libs/http"],
    packages: ["effect/encoding"]
  },
  "services/payment-verifier": { holds: "whether a payment would settle", knows: [...payments, "libs/http"] },
  "services/payment-settler": { holds: "settlement and its reconciliation", knows: payments },
  "services/speech-api": {
    holds: "speech over HTTP",
    knows: [...voices, "libs/http"],
    packages: ["@effect/platform-node"]
  },
  "services/speech-sequencer": { holds: "text into chunks, sound into a stream", knows: speech },
  "services/speech-synthesizer": { holds: "the engines", knows: speech },
  "services/console": {
    holds: "the operators' API and its page: what was sent, what was refused, and what to do about it",
    knows: [...bus, "libs/egress", "libs/webhooks", "libs/http", "libs/x402", "libs/fleet-view"]
  },
  "services/fleet": {
    holds: "roles in one process, the embedded broker, the local world",
    knows: [...libs, ...roles, ...world]
  },
  "services/cli": {
    holds: "the command line",
    knows: [...libs, "services/fleet", "services/speech-api", "dev/runner", "deploy"],
    packages: ["effect/cli", "effect/encoding", "effect/http", "effect/http-api", "@effect/platform-node"]
  },
  page: {
    holds: "the console's page, as browsers run it; of the contracts it takes types alone",
    knows: ["libs/contracts"],
    packages: ["effect/http", "effect/http-api", "react", "react-dom", "uplot", "wouter"],
    isPure: true,
    isInBrowser: true
  },
  "dev/chain": {
    holds: "chains of this machine",
    knows: ["libs/contracts", "libs/runtime", "libs/x402"],
    packages: ["@solana/kit", "litesvm", "solc", "node:module"]
  },
  "dev/upstream": { holds: "a model provider of this machine", knows: [] },
  "dev/receiver": { holds: "a receiver of webhooks", knows: ["libs/contracts"] },
  "dev/runner": { holds: "a reference runner on git repositories", knows: bus },
  "dev/examples": {
    holds: "a receiver, a publisher, what verifies webhooks, and clients that pay, for who writes their own",
    knows: ["libs/contracts"],
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
    knows: [...payments, "dev/chain"],
    packages: ["@x402/*", "viem"]
  },
  dev: {
    holds: "checks, tests, mutants, installers",
    knows: [],
    packages: ["oxc-parser", "recheck", "typescript", "vite", "vitest", "node:module"]
  },
  deploy: {
    holds: "images, manifests, backup, the doctor of clusters, the package of the contracts",
    knows: ["libs/contracts", "libs/bus", "dev/page", "dev/program"],
    packages: ["@nats-io/*", "esbuild", "yaml"]
  },
  "load-tests": {
    holds: "scenarios, figures, reports",
    knows: [...libs, "services/pipeline-api", "services/sweeper", "dev/chain", "dev/upstream", "dev/fixtures"],
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
