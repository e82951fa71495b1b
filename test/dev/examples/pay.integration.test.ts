/** The clients of docs/paying-clients.md, run as they stand there, by each way to pay. */
import { execFile, spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { payingFiles } from "../../../services/cli/documents.ts"
import { type ChannelFleet, withChannels } from "../../support/channel-fleet.ts"
import type { Parts } from "../../support/payment-fleet.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

type Json = Readonly<Record<string, unknown>>

/** All ways to pay, in the order in which `up` offers them. */
const offeringAll = ({ chain, configuration, environment }: Parts) => {
  const { Payments } = configuration as { readonly Payments: { readonly Networks: ReadonlyArray<Json> } }
  const FacilitatorAddresses = chain.settlers.map(({ address }) => address)
  const Networks = Payments.Networks.map((entry) => ({ ...entry, Schemes: ["exact", "upto"], FacilitatorAddresses }))
  return { configuration: { ...configuration, Payments: { ...Payments, Networks } }, environment }
}

// `STARLING_TEST_PYTHON` names a Python that has the packages; any other is tried as it is.
const python = process.env["STARLING_TEST_PYTHON"] ?? "python3"
const lacks = (program: string) =>
  program === python &&
  spawnSync(python, ["-c", "import eth_account, httpx, jsonschema, openai, web3, x402"]).status !== 0

const question = "one two three"
const runs = [
  ["the first that is offered", undefined, "exact"],
  ["upto", "upto", "upto"],
  ["batch-settlement", "batch-settlement", "batch-settlement"],
  ["batch-settlement again, from the channel that it keeps", "batch-settlement", "batch-settlement"]
] as const

/** What the client printed, called as its page says. */
const answerOf = (program: string, path: string, options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) =>
  Effect.promise(() =>
    promisify(execFile)(program, [resolve(path), question], { ...options, timeout: 120_000 }).then(
      ({ stdout }) => stdout,
      (failed: { readonly stderr?: string }) => assert.fail(failed.stderr ?? String(failed))
    )
  )

/** The schemes of the receipts of one payer, in the order of their calls. */
const paidBy = (fleet: ChannelFleet, payer: string) =>
  Effect.map(fleet.receipts, (receipts) =>
    receipts
      .filter(({ outcome, payer: by }) => outcome === "settled" && by?.toLowerCase() === payer.toLowerCase())
      .map(({ scheme }) => scheme)
  )

describe("the client that pays by x402", () => {
  for (const { title, path } of payingFiles) {
    const program = path.endsWith(".py") ? python : process.execPath
    const isMissing = lacks(program)
    const where = isMissing ? ` (skipped: ${python} lacks openai or x402[evm,extensions,httpx])` : ""
    it.live.skipIf(isMissing)(`${title}: is answered, and pays once for each call, by each way to pay${where}`, () =>
      withChannels(
        (fleet) =>
          Effect.gen(function* () {
            const key = generatePrivateKey()
            const payer = privateKeyToAccount(key).address
            yield* fleet.chain.fund(payer, 100_000_000n)
            const cwd = yield* temporaryFolder
            const common = { ...process.env, GATEWAY: fleet.url, RPC_URL: fleet.chain.rpcUrl, WALLET_KEY: key }
            const paid: Array<(typeof runs)[number][2]> = []
            for (const [name, scheme, wanted] of runs) {
              const env = scheme === undefined ? common : { ...common, SCHEME: scheme }
              assert.strictEqual(yield* answerOf(program, path, { cwd, env }), question, name)
              paid.push(wanted)
              yield* eventually(paidBy(fleet, payer), { is: (seen) => seen.length >= paid.length })
              assert.deepStrictEqual(yield* paidBy(fleet, payer), paid, name)
            }
          }),
        { chain: { settlerCount: 1 }, configure: offeringAll }
      )
    )
  }
})
