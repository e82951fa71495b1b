import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandPaths } from "../../../services/cli/documents.ts"
import { runHere } from "../../support/command.ts"

const home = mkdtempSync(join(tmpdir(), "starling-exit-codes-"))
afterAll(() => rmSync(home, { recursive: true }))

const variables = {
  STARLING_HOME: home,
  STARLING_CONFIG: undefined,
  STARLING_TOKEN: undefined,
  NATS_URL: undefined,
  BUS_URL: undefined
}

/** A good command line of each command that needs a fleet. */
const onFleet: ReadonlyArray<string> = [
  "top --once",
  "console",
  "publish work_item.merged --example",
  "publish report iteration-ended --example",
  "trigger work_item.merged",
  "find 17",
  "events list",
  "events show 1",
  "events example work_item.merged",
  "types list",
  "types show work_item.merged",
  "types add order.paid --owner internal-services",
  "types change order.paid --opt-in",
  "types retire order.paid",
  "types export .starling/exported-types",
  "tail --last 1",
  "listen --forward-to http://localhost:3000",
  "endpoints list",
  "endpoints show demo",
  "endpoints add demo https://demo.example/hooks",
  "endpoints edit demo --to https://demo.example/hooks",
  "endpoints rotate demo",
  "endpoints test demo",
  "endpoints try-filter",
  "endpoints pause demo",
  "endpoints resume demo",
  "endpoints enable demo",
  "endpoints disable demo",
  "endpoints reseal",
  "endpoints remove demo",
  "deliveries list",
  "deliveries show 6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  "deliveries resend 6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  "abandoned list",
  "abandoned show 1",
  "abandoned resend 1",
  "abandoned discard 1",
  "rejected list",
  "rejected show 1",
  "rejected resend 1",
  "rejected discard 1",
  "receipts list",
  "receipts show 1",
  "receipts sums",
  "receipts refund 1 --reason explained",
  "claims list",
  "claims show 1",
  "books list",
  "books show 1",
  "books mend 1",
  "books accept 1 --reason explained",
  "say hello",
  "audiobooks speak README.md --voice selma --out .starling/spoken",
  "audiobooks list",
  "audiobooks fetch job_1 --out .starling/spoken",
  "audiobooks remove job_1",
  "lexicons list",
  "lexicons store names README.md",
  "lexicons show names",
  "lexicons delete names",
  "speech",
  "models list",
  "pay hello --model demo/echo",
  "payer",
  "token make",
  "token list",
  "token revoke 1",
  "consents list",
  "consents get 1 --out consent.wav",
  "broker streams",
  "backup save copies",
  "doctor"
]

/** Those that ask the console alone. */
const onConsole = onFleet.filter(
  (line) =>
    !/^(?:top|publish|tail|say|audiobooks|lexicons|pay|payer|token|consents|broker|backup)\b/u.test(line) &&
    line !== "events example work_item.merged"
)

/** A server that gives every request this answer. */
const answering = (status: number, body: string) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((request, response) => {
        request.resume()
        response.writeHead(status, { "content-type": "application/json" }).end(body)
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

/** Command lines that are wrong in what they say; no fleet is asked to find that. */
const misused: ReadonlyArray<readonly [words: ReadonlyArray<string>, says: string]> = [
  [["publish", "work_item.merged"], "what to publish? name a --file, or use --example"],
  [["publish", "work_item.merged", "--file", "nowhere.json"], "nowhere.json cannot be read"],
  [["publish", "work_item.merged", "--file", "README.md"], "README.md is not JSON"],
  [["publish", "report"], "publish report takes one kind"],
  [["publish", "report", "iteration-endd"], "did you mean iteration-ended?"],
  [["publish", "report", "iteration-ended"], "what to publish?"],
  [["tail", "--last", "0"], "it is a whole number from 1"],
  [["token", "make", "--scope", "nonsense"], "--scope nonsense? it is one of"],
  [["token", "make", "--label", ""], "--label is 1 to"],
  [["token", "revoke", "1", "--reason", " "], "--reason is 1 to"],
  [["lexicons", "store", "names", "nowhere.pls"], "nowhere.pls cannot be read"],
  [["deliveries", "list", "--since", "yesterday"], "--since yesterday?"],
  [["find"], "find needs <id>"],
  [["events", "list", "--url", "nonsense"], "--url nonsense?"],
  [["top", "--url", "ftp://x"], "--url ftp://x?"],
  [["token", "make", "--expires", "soon"], "--expires soon?"]
]

/** Commands that start a fleet or a part of one, or work without one. */
const alone = [
  "up",
  "try",
  "role",
  "runner",
  "broker users",
  "broker before-rollback",
  "backup restore",
  "keys new",
  "keys import",
  "keys address",
  "agents",
  "check",
  "test",
  "mutants",
  "load",
  "voices",
  "docs",
  "topology"
]

const paths = commandPaths().map((path) => path.join(" "))
const isGroup = (path: string) => paths.some((other) => other.startsWith(`${path} `)) && path !== "publish"
const commandOf = (line: string) =>
  paths.filter((path) => line === path || line.startsWith(`${path} `)).toSorted((a, b) => b.length - a.length)[0]

describe("every command's exit code", () => {
  it("is in this table", () => {
    const named = [...onFleet.map(commandOf), ...alone]
    assert.sameMembers(
      named.filter((name) => name !== undefined),
      paths.filter((path) => !isGroup(path))
    )
  })

  it.effect.each(paths.map((path) => ({ path })))("of $path is 0 for help, and 2 for an unknown option", ({ path }) =>
    Effect.gen(function* () {
      const words = path.split(" ")
      const help = yield* runHere([...words, "--help"], variables)
      assert.deepStrictEqual([help.code, help.error], [0, ""])
      const wrong = yield* runHere([...words, "--nonsense"], variables)
      assert.deepStrictEqual([wrong.code, wrong.out], [2, ""])
      assert.include(wrong.error, "starling: ")
    })
  )

  it.live.each(misused.map(([words, says]) => ({ words, says, line: words.join(" ") })))(
    "of $line is 2, with the reason",
    ({ words, says }) =>
      Effect.gen(function* () {
        const ran = yield* runHere(words, variables)
        assert.deepStrictEqual([ran.code, ran.out], [2, ""], ran.error)
        assert.include(ran.error, says)
      })
  )

  const refusals = [
    { status: 401, code: "unauthorized", message: "This token is unknown, expired or revoked." },
    { status: 403, code: "insufficient_scope", message: "This token may not do that." },
    { status: 404, code: "not_found", message: "There is none of this name." },
    { status: 429, code: "rate_limited", message: "Too many requests." },
    { status: 503, code: "unavailable", message: "The broker does not answer." }
  ]
  it.live.each(onConsole.flatMap((line) => refusals.map((refusal) => ({ ...refusal, line }))))(
    "of $line is 1, with the reason, where the console answers $status",
    ({ line, status, code, message }) =>
      Effect.gen(function* () {
        const url = yield* answering(status, JSON.stringify({ error: { code, message }, request_id: "req_1" }))
        const ran = yield* runHere(line.split(" "), { ...variables, STARLING_CONSOLE: url, STARLING_TOKEN: "stl_x" })
        assert.deepStrictEqual([ran.code, ran.out], [1, ""], ran.error)
        assert.include(ran.error, message)
      })
  )

  it.live.each(onConsole.map((line) => ({ line })))("of $line is 1 where something else answers", ({ line }) =>
    Effect.gen(function* () {
      const url = yield* answering(502, "<html>Bad gateway</html>")
      const ran = yield* runHere(line.split(" "), { ...variables, STARLING_CONSOLE: url, STARLING_TOKEN: "stl_x" })
      assert.deepStrictEqual([ran.code, ran.out], [1, ""], ran.error)
      assert.include(ran.error, "answered 502, and not as a console does: <html>Bad gateway</html>")
    })
  )

  it.live.each(onFleet.map((line) => ({ line })))("of $line is 69 where no fleet runs", ({ line }) =>
    Effect.gen(function* () {
      const ran = yield* runHere(line.split(" "), variables)
      assert.deepStrictEqual([ran.code, ran.out], [69, ""], ran.error)
      assert.match(ran.error, /^starling: .*(?:start it with \.\/starling up|no fleet)/u)
    })
  )
})
