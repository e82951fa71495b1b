import { assert, describe, it } from "@effect/vitest"
import { Cause, Data, Effect, Layer, Logger } from "effect"
import { chosenFormat, lineLogger, type LogFormat, Role } from "#runtime"
import { makeSecrets, Secrets } from "../../../libs/runtime/secrets.ts"

const secret = 'hunter2"with\\odd characters'

const logged = (log: Effect.Effect<void>, format: LogFormat = "json") =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const secrets = makeSecrets()
    secrets.add(secret)
    const layer = Layer.mergeAll(
      Logger.layer([lineLogger(format, (line) => void lines.push(line))]),
      Layer.succeed(Role, "trial-role"),
      Layer.succeed(Secrets, secrets)
    )
    yield* log.pipe(Effect.provide(layer))
    assert.lengthOf(lines, 1)
    return lines[0] ?? ""
  })

describe("a log line", () => {
  it.effect("shows no secret, even one that JSON escapes", () =>
    Effect.gen(function* () {
      const line = yield* logged(
        Effect.logInfo(`called with ${secret}`, new Error(secret)).pipe(
          Effect.annotateLogs({ plain: secret, nested: { deep: [secret] } })
        )
      )
      assert.notInclude(line, "hunter2")
      assert.notInclude(JSON.stringify(JSON.parse(line)), "odd characters")
      assert.strictEqual((JSON.parse(line) as { plain: string }).plain, "<redacted>")
    })
  )

  it.effect("of an endless value is still an object, says that it is shortened, and keeps its subject", () =>
    Effect.gen(function* () {
      const long = "long ".repeat(20_000)
      const line = yield* logged(
        Effect.logError(long, new Error(long)).pipe(Effect.annotateLogs({ endpoint: "ci", body: long }))
      )
      assert.isAtMost(line.length, 8_192)
      const entry = JSON.parse(line) as Record<string, unknown>
      assert.deepInclude(entry, { level: "ERROR", role: "trial-role", endpoint: "ci", truncated: true })
      for (const field of ["message", "error", "body"]) assert.include(String(entry[field]), "long long")
    })
  )

  it.effect("has what a failure says beside the message, and the facts of one that says nothing", () =>
    Effect.gen(function* () {
      class Full extends Data.TaggedError("Full")<{ readonly seats: number }> {}
      const told = (log: Effect.Effect<void>) => Effect.map(logged(log), (line) => JSON.parse(line) as object)
      const plain = yield* told(Effect.logError("no seat", new Error("the house is full")))
      assert.deepInclude(plain, { message: "no seat", error: "Error: the house is full" })
      const tagged = (yield* told(Effect.logError("no seat", new Full({ seats: 3 })))) as { error: string }
      assert.match(tagged.error, /^Full: .*"seats":3/u)
      const caused = (yield* told(Effect.logError("no seat", Cause.fail("the house is full")))) as Record<
        string,
        string
      >
      assert.strictEqual(caused["message"], "no seat")
      assert.include(caused["error"], "the house is full")
    })
  )

  it.effect("has no half of a secret at its cut", () =>
    Effect.gen(function* () {
      for (let at = 995; at <= 1_024; at++) {
        const line = yield* logged(Effect.logInfo(`${"x".repeat(at)}${secret}${"y".repeat(10_000)}`))
        assert.notInclude(line, "hun")
      }
    })
  )

  it.effect("writes a whole number of any size, and circular references", () =>
    Effect.gen(function* () {
      const circle: { self?: unknown } = {}
      circle.self = circle
      const line = yield* logged(Effect.logInfo("sum").pipe(Effect.annotateLogs({ amount: 12n, circle })))
      assert.deepInclude(JSON.parse(line), { amount: "12", circle: { self: "[seen]" } })
    })
  )
})

const escape = String.fromCodePoint(27)

describe("a log line for people", () => {
  const log = Effect.logWarning("the house is full").pipe(Effect.annotateLogs({ endpoint: "ci", left: 3 }))

  it.effect("has the time, the level, the role, the message and its subject", () =>
    Effect.gen(function* () {
      const line = yield* logged(log, "pretty")
      assert.match(line, /^\d\d:\d\d:\d\d\.\d{3} WARN  trial-role the house is full endpoint=ci left=3$/u)
    })
  )

  it.effect("has the same text in colours, and ends each of them", () =>
    Effect.gen(function* () {
      const line = yield* logged(log, "coloured")
      assert.include(line, `${escape}[33mWARN ${escape}[39m`)
      const codes = new RegExp(`${escape}\\[(\\d+)m`, "gu")
      assert.match(line.replaceAll(codes, ""), /WARN {2}trial-role the house is full endpoint=ci left=3$/u)
      const begunAndEnded = [...line.matchAll(codes)].map(([, code]) => code === "39")
      assert.deepStrictEqual(
        begunAndEnded,
        begunAndEnded.map((_, index) => index % 2 === 1)
      )
    })
  )

  it.effect("has each level in its colour", () =>
    Effect.gen(function* () {
      const code = (log: Effect.Effect<void>) =>
        Effect.map(
          logged(log, "coloured"),
          (line) => new RegExp(`${escape}\\[(\\d+)m(?:[A-Z]+ *)`, "u").exec(line)?.[1]
        )
      const codes = yield* Effect.forEach(
        [Effect.logFatal("x"), Effect.logError("x"), Effect.logWarning("x"), Effect.logInfo("x")],
        code
      )
      assert.deepStrictEqual(codes, ["31", "31", "33", "32"])
    })
  )

  it.effect("lets no message control the terminal", () =>
    Effect.gen(function* () {
      const line = yield* logged(
        Effect.logInfo(`${escape}[2Jgone`).pipe(Effect.annotateLogs({ title: `${escape}]0;mine\u0007` })),
        "pretty"
      )
      assert.notInclude(line, escape)
      assert.notInclude(line, "\u0007")
      assert.include(line, "[2Jgone")
    })
  )

  it.effect("shows no secret, and at most a few screens of an endless value", () =>
    Effect.gen(function* () {
      const line = yield* logged(
        Effect.logError(`${secret} ${"long ".repeat(20_000)}`, new Error(secret)).pipe(
          Effect.annotateLogs({ plain: secret })
        ),
        "coloured"
      )
      assert.notInclude(line, "hunter2")
      assert.isBelow(line.length, 8_400)
    })
  )
})

describe("the format of log lines", () => {
  const terminal = { hasTerminal: true, wantsColours: true }
  const plainTerminal = { hasTerminal: true, wantsColours: false }
  const pipe = { hasTerminal: false, wantsColours: true }

  it.each([
    ["coloured", "on a terminal", { asked: undefined, ...terminal }],
    ["pretty", "on a terminal without colours", { asked: "", ...plainTerminal }],
    ["json", "where it is no terminal", { asked: undefined, ...pipe }],
    ["json", "on a terminal that is asked for JSON", { asked: "json", ...terminal }],
    ["pretty", "in a pipe that is asked for text", { asked: "text", ...pipe }],
    ["json", "of a program that has it as its own", { asked: undefined, own: "json", ...terminal }],
    ["coloured", "of a program whose own is overruled", { asked: "text", own: "json", ...terminal }],
    [undefined, "where something else is asked for", { asked: "yaml", ...terminal }]
  ] as const)("is %s %s", (format, _where, facts) => {
    assert.strictEqual(chosenFormat(facts), format)
  })
})
