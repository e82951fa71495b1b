import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { emptyHome, runHere, startCommand } from "../../../support/command.ts"
import { withPayments } from "../../../support/payment-fleet.ts"

const body = JSON.stringify({ model: "demo/echo", max_tokens: 64, messages: [{ role: "user", content: "one two" }] })

describe("./starling payer", () => {
  it.live("prints its token once, pays by it, writes a line for the call and the totals at its end", () =>
    withPayments(({ chain, url: gateway, transfers }) =>
      Effect.gen(function* () {
        const key = generatePrivateKey()
        const { address } = privateKeyToAccount(key)
        yield* chain.fund(address, 1_000_000n)
        const home = yield* emptyHome
        const keyFile = join(home, "wallet.key")
        writeFileSync(keyFile, `${key}\n`)
        const words = ["payer", "--gateway", gateway, "--key-file", keyFile, "--port", "0", "--network", "base-sepolia"]
        const command = yield* Effect.acquireRelease(
          Effect.sync(() => startCommand(words, { STARLING_HOME: home })),
          ({ signal }) => Effect.sync(() => signal("SIGKILL"))
        )
        yield* eventually(() => command.said().includes("limits:"))
        const [, url = "", token = ""] = /^payer: +(\S+) → \S+\ntoken: +(\S+)\n/u.exec(command.said()) ?? []
        const call = Effect.promise(async () => {
          const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
          return (await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })).text()
        })
        assert.include(yield* call, "one two")
        yield* eventually(() => command.said().includes("charged"))
        command.signal("SIGINT")
        const { out, error } = yield* Effect.promise(() => command.ended)
        const [amount = 0n] = yield* transfers
        const usd = `0.${String(amount).padStart(6, "0")}`
        assert.include(out, `wallet:   ${address}, exact, on test networks`)
        assert.match(out, new RegExp(` /v1/chat/completions demo/echo · price ${usd} · charged ${usd} · 200 · `, "u"))
        assert.match(out, new RegExp(`^1 calls, 1 payments signed, ${usd} USD charged$`, "mu"))
        assert.strictEqual(out.split(token).length, 2)
        assert.notInclude(`${out}${error}`, key.slice(2))
        assert.strictEqual(error, "")
      })
    )
  )

  it.live.each([
    [["--network", "tron"], "--network tron? it is one of ethereum, "],
    [["--network", "base"], "--network base: its dollars are real, which takes --mainnet too"],
    [["--per-hour", "much"], "--per-hour much? it is dollars with at most six decimals"],
    [["--gateway", "ftp://x"], "--gateway ftp://x? it is a URL of http or https"],
    [["--key-env", "A_KEY", "--key-file", "a.key"], "the key is in --key-file or in --key-env, not in both"],
    [["--key-env", "A_KEY", "--gateway", "http://127.0.0.1:9"], "A_KEY is not set"]
  ] as const)("refuses %j before anything is opened", ([words, reason]) =>
    Effect.gen(function* () {
      const home = yield* emptyHome
      const { code, out, error } = yield* runHere(["payer", ...words], { STARLING_HOME: home, A_KEY: undefined })
      assert.deepStrictEqual([code, out], [2, ""])
      assert.include(error, `starling: ${reason}`)
    }).pipe(Effect.scoped)
  )
})
