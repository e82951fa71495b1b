/** The page's code to copy, run as it stands there, by each way to pay that the model offers. */
import { execFile } from "node:child_process"
import { symlinkSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { callSnippets } from "../../../../page/screens/models/snippets.ts"
import { withChannels } from "../../../support/channel-fleet.ts"
import { chat } from "../../../support/gateway.ts"
import { quoteOf } from "../../../support/payment-client.ts"
import type { Parts } from "../../../support/payment-fleet.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"

type Json = Readonly<Record<string, unknown>>

/** All ways to pay. */
const offeringAll = ({ chain, configuration, environment }: Parts) => {
  const { Payments } = configuration as { readonly Payments: { readonly Networks: ReadonlyArray<Json> } }
  const FacilitatorAddresses = chain.settlers.map(({ address }) => address)
  const Networks = Payments.Networks.map((entry) => ({ ...entry, Schemes: ["exact", "upto"], FacilitatorAddresses }))
  return { configuration: { ...configuration, Payments: { ...Payments, Networks } }, environment }
}

describe("the page's code to copy", () => {
  it.live("is answered in each language, and pays by the first offer and by each that is asked for", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const key = generatePrivateKey()
          const payer = privateKeyToAccount(key).address
          yield* fleet.chain.fund(payer, 100_000_000n)
          const cwd = yield* temporaryFolder
          symlinkSync(resolve("node_modules"), join(cwd, "node_modules"))
          const question = "one two three"
          const unpaid = yield* Effect.promise(() =>
            fetch(`${fleet.url}/v1/chat/completions`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify(chat(question))
            })
          )
          const { accepts } = quoteOf(unpaid)
          assert.sameMembers(
            accepts.map(({ scheme }) => scheme),
            ["exact", "upto", "batch-settlement"]
          )
          const call = { model: "demo/echo", prompt: question, maxTokens: 16, chain: "evm" } as const
          const wanted: Array<string> = []
          for (const { title, code } of callSnippets(call, accepts).filter((each) => each.title !== "curl")) {
            writeFileSync(join(cwd, `${title}.mjs`), code)
            for (const scheme of title === "x402" ? ["exact", "upto", "batch-settlement"] : [undefined]) {
              const common = { ...process.env, GATEWAY: fleet.url, RPC_URL: fleet.chain.rpcUrl, WALLET_KEY: key }
              const env = scheme === undefined ? common : { ...common, SCHEME: scheme }
              const options = { cwd, env, timeout: 120_000 }
              const { stdout } = yield* Effect.promise(() =>
                promisify(execFile)(process.execPath, [`${title}.mjs`], options).catch(
                  (failed: { readonly stderr?: string }) => assert.fail(failed.stderr ?? String(failed))
                )
              )
              assert.include(stdout, question, title)
              wanted.push(scheme ?? "exact")
              const paid = Effect.map(fleet.receipts, (all) => all.flatMap((receipt) => receipt.scheme ?? []))
              yield* eventually(paid, { is: ({ length }) => length === wanted.length })
              assert.sameMembers([...(yield* paid)], wanted)
            }
          }
        }),
      { chain: { settlerCount: 1 }, configure: offeringAll }
    )
  )
})
