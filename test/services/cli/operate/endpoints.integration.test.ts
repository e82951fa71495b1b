import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { signBody } from "#webhooks"
import { commandsHere, objectsIn, type Ran } from "../../../support/command.ts"
import { configured, tokenOf, withConsole } from "../../../support/console.ts"
import { whileDispatching } from "../../../support/dispatcher.ts"
import { startReceiver } from "../../../support/receiver.ts"
import { arrived, publish, requestsTo } from "../../../support/webhooks.ts"

const good = ({ code, error }: Ran) => assert.strictEqual(code, 0, error)

describe("endpoints by commands", () => {
  it.live("are made with a secret that is printed once, changed, rotated, stopped in each way, and removed", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        const words =
          "endpoints add ci https://ci.example/hooks --event work_item.* --set Concurrency=4 --set Description=7"
        const made = yield* run([...words.split(" "), "--header", "Authorization: Bearer of-a-key"])
        good(made)
        assert.match(made.out, /^whsec_[\w+/]{43}=\n$/u)
        assert.match(made.error, /^ci is added: it gets every event after 0\n$/u)

        const edited = yield* run("endpoints edit ci --set TimeoutSeconds=2.5 --unset Concurrency --event *".split(" "))
        good(edited)
        assert.include(edited.out, "ci is changed; this is its revision 2")
        const rotated = yield* run("endpoints rotate ci --overlap 1h --json".split(" "))
        good(rotated)
        const [view] = objectsIn(rotated)
        assert.match(String(view?.["secret"]), /^whsec_/u)
        assert.deepInclude(view, { isSigned: true, hasStandardWebhooks: true, revision: 3 })

        const states: Array<string> = []
        for (const act of ["pause", "resume", "disable", "enable"]) {
          good(yield* run(["endpoints", act, "ci", "--reason", `to ${act}`]))
          const listed = yield* run(["endpoints", "list"])
          states.push(/^ci +(.*?)  /mu.exec(listed.out)?.[1]?.replace(/by \S+ at \S+/u, "by X") ?? listed.out)
        }
        assert.deepStrictEqual(states, ["paused by X to pause", "active", "disabled", "active"])

        const shown = yield* run(["endpoints", "show", "ci"])
        assert.match(shown.out, /^state: active\n/u)
        assert.match(shown.out, /Description: 7\n/u)
        assert.match(shown.out, /TimeoutSeconds: 2\.5\n/u)
        const everything = [
          shown,
          yield* run(["endpoints", "list", "--json"]),
          yield* run(["endpoints", "show", "ci", "--json"])
        ]
        for (const { out } of everything) {
          assert.notInclude(out, made.out.trim())
          assert.notInclude(out, String(view?.["secret"]))
          assert.notInclude(out, "of-a-key")
        }
        good(yield* run(["endpoints", "remove", "ci"]))
        assert.strictEqual((yield* run(["endpoints", "show", "ci"])).code, 1)
      })
    )
  )

  it.live("have filters that are tried before, and are given as JSON", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        for (const event of ["queue.paused", "work_item.merged"]) yield* publish(event)
        const filter = '{"project":{"id":["orchard"]}}'
        const tried = yield* run(["endpoints", "try-filter", "--event", "*", "--filter", filter])
        good(tried)
        assert.match(tried.out, /^1 of the last 2 events fit\n/u)
        assert.match(tried.out, /^2 +work_item\.merged .*fits$/mu)
        assert.match(tried.out, /^1 +queue\.paused .*\/project\/id is absent$/mu)
        const [trial] = objectsIn(yield* run(["endpoints", "try-filter", "--event", "queue.*", "--json"]))
        assert.deepInclude(trial, { examined: 2, fitting: 1 })
        good(yield* run(["endpoints", "add", "ci", "https://ci.example/hooks", "--filter", filter]))
        const [shown] = objectsIn(yield* run(["endpoints", "show", "ci", "--json"]))
        assert.deepInclude(shown?.["settings"], { ContentFilter: JSON.parse(filter) })
        good(yield* run(["endpoints", "edit", "ci", "--unset", "ContentFilter"]))
        const slip = yield* run(["endpoints", "edit", "ci", "--event", "work_item.mergd"])
        assert.deepStrictEqual(
          [slip.code, /EventFilter\.0: (.*)/u.exec(slip.error)?.[1]],
          [1, "there is no event work_item.mergd; did you mean work_item.merged?"]
        )
        const broken = yield* run(["endpoints", "edit", "ci", "--filter", "{project"])
        assert.deepStrictEqual([broken.code, /^starling: --filter is not JSON/mu.test(broken.error)], [2, true])
      })
    )
  )

  it.live("are refused with every fault, and say which command line was meant", () =>
    withConsole(
      () =>
        Effect.gen(function* () {
          const { run } = yield* commandsHere
          const faulty = yield* run(["endpoints", "add", "x", "ftp://x", "--header", "Host: x"])
          assert.strictEqual(faulty.code, 1)
          for (const path of ["Url", "Headers.Host"]) assert.match(faulty.error, new RegExp(`^  ${path}: `, "mu"))
          const slip = yield* run(["endpoints", "add", "x", "https://x.example", "--set", "Concurency=4"])
          assert.deepStrictEqual([slip.code, slip.out], [2, ""])
          assert.include(slip.error, "there is no field Concurency; did you mean Concurrency?")
          const unnamed = yield* run(["endpoints", "edit", "demo"])
          assert.strictEqual(unnamed.code, 2)
          const fixed = yield* run(["endpoints", "edit", "demo", "--to", "https://other.example"])
          assert.deepStrictEqual([fixed.code, fixed.out], [1, ""])
          assert.include(fixed.error, "demo is in the configuration file")
          const long = yield* run(["endpoints", "rotate", "demo", "--overlap", "9d"])
          assert.strictEqual(long.code, 2)
          const viewer = yield* tokenOf("viewer")
          const refused = yield* run(["endpoints", "pause", "demo"], viewer)
          assert.strictEqual(refused.code, 1)
          assert.include(refused.error, "token make --role admin")
        }),
      configured("demo")
    )
  )

  it.live("are tested with an answer, and sign with the secret that was printed or given", () =>
    withConsole((_call, server) =>
      Effect.gen(function* () {
        const { run, folder } = yield* commandsHere
        const receiver = yield* startReceiver
        receiver.answer("/full", () => 507)
        yield* whileDispatching(
          server,
          { endpoints: [] },
          Effect.gen(function* () {
            const made = yield* run(["endpoints", "add", "ci", receiver.url("/ci")])
            const own = "a-secret-of-the-receiver's-own"
            writeFileSync(
              join(folder, "secret"),
              `${own}
`
            )
            const words = ["endpoints", "add", "full", receiver.url("/full"), "--sign", "service"]
            const given = yield* run([...words, "--secret", join(folder, "secret")])
            good(given)
            assert.strictEqual(given.out, "")
            const tested = yield* run(["endpoints", "test", "ci"])
            good(tested)
            assert.match(tested.out, /^ci delivered: 204 in \d+ ms\n$/u)
            const failed = yield* run(["endpoints", "test", "full", "--event", "queue.paused"])
            assert.strictEqual(failed.code, 1)
            assert.include(failed.error, "full did not take the test: 507")
            assert.strictEqual((yield* run(["endpoints", "test", "ci", "--event", "no.event"])).code, 1)

            yield* publish("work_item.merged")
            yield* arrived(receiver, "/ci", 2)
            for (const [path, secret] of [
              ["/ci", made.out.trim()],
              ["/full", own]
            ] as const) {
              const [first] = requestsTo(receiver, path)
              const expected = signBody(secret, new TextEncoder().encode(first?.body))
              assert.strictEqual(first?.headers["x-service-signature"], expected, path)
            }
          })
        )
      })
    )
  )
})
