import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { generatePrivateKey } from "viem/accounts"
import { type PaidFleet, startPaidFleet } from "../support/paid-fleet.ts"
import { type Home, newHome, type Ran, starling } from "../../dev/fixtures/starling.ts"

let paid: PaidFleet

beforeAll(async () => {
  paid = await startPaidFleet()
})
afterAll(() => paid.stop())

const pay = (...parameters: ReadonlyArray<string>) => starling(paid.home, "pay", ...parameters)
const withKey = (key: string, home: Home = paid.home): Home => ({
  ...home,
  environment: { ...home.environment, A_KEY: key }
})
const usd = (units: bigint) => `${units / 1_000_000n}.${(units % 1_000_000n).toString().padStart(6, "0")}`
const showsNoKey = ({ out, error }: Ran, ...keys: ReadonlyArray<string>) => {
  for (const key of [paid.evm.privateKey, paid.solana.secretKey, ...keys]) {
    assert.notInclude(`${out}${error}`.toLowerCase(), key.replace(/^0x/u, "").toLowerCase())
  }
}

describe("./starling pay", () => {
  it.each([
    ["evm", /^receipt: +0x[0-9a-f]{64}$/mu],
    ["solana", /^receipt: +[1-9A-HJ-NP-Za-km-z]{80,90}$/mu]
  ] as const)(
    "pays on %s: shows the quote, the answer, the receipt, and the wallet before and after",
    async (chain, receipt) => {
      const { balance } = paid[chain]
      const before = await balance()
      const ran = await pay("one two three", "--chain", chain)
      const after = await balance()
      assert.deepStrictEqual([ran.code, ran.out], [0, "one two three\n"], ran.error)
      assert.isAbove(Number(before - after), 1_000)
      assert.include(ran.error, `quote:    ${usd(before - after)} USD to `)
      assert.include(ran.error, `has ${usd(before)} USD`)
      assert.match(ran.error, receipt)
      assert.include(ran.error, `${usd(after)} USD left, ${usd(before - after)} paid`)
      showsNoKey(ran)
    }
  )

  it("pays by upto for what was used, and shows the most that it signed beside the charge", async () => {
    const before = await paid.evm.balance()
    const ran = await pay("one two three", "--scheme", "upto")
    const spent = before - (await paid.evm.balance())
    assert.deepStrictEqual([ran.code, ran.out], [0, "one two three\n"], ran.error)
    const [, most = "0"] = /^quote: +at most ([0-9.]+) USD to /mu.exec(ran.error) ?? []
    assert.isAbove(Number(most) * 1e6, Number(spent))
    assert.include(ran.error, `charged:  ${usd(spent)} USD of the ${most} that were signed`)
    assert.match(ran.error, /^receipt: +0x[0-9a-f]{64}$/mu)
    showsNoKey(ran)
  })

  it("with --json writes all of it as one line of JSON and nothing else", async () => {
    const before = await paid.evm.balance()
    const ran = await pay("as data", "--json", "--model", "demo/nostream", "--whole")
    assert.deepStrictEqual([ran.code, ran.error], [0, ""])
    const told = JSON.parse(ran.out) as Readonly<Record<string, unknown>>
    const after = await paid.evm.balance()
    assert.strictEqual(told["answer"], "as data")
    assert.strictEqual(told["settled"], true)
    assert.match(String(told["transaction"]), /^0x[0-9a-f]{64}$/u)
    assert.deepStrictEqual([told["balanceBeforeUsd"], told["balanceAfterUsd"]], [usd(before), usd(after)])
    assert.strictEqual(told["priceUsd"], usd(before - after))
    showsNoKey(ran)
  })

  it("refuses a quote above its limit, and signs nothing", async () => {
    const before = await paid.evm.balance()
    const from = paid.wire.exchanges.length
    const capped = await pay("hello", "--max-usd", "0.002")
    assert.strictEqual(capped.code, 1)
    assert.match(capped.error, /the quote is 0\.00\d+ USD, more than the 0\.002000 of --max-usd; nothing was paid/u)
    const dear = await pay("hello", "--model", "demo/dear", "--max-usd", "0.9")
    assert.match(dear.error, /the quote is 0\.90\d+ USD/u)
    assert.isTrue(paid.wire.exchanges.slice(from).every(({ payment }) => payment === undefined))
    assert.strictEqual(await paid.evm.balance(), before)
  })

  it("asks once, pays nothing and says so for a free model", async () => {
    const ran = await pay("for nothing", "--model", "demo/free")
    assert.deepStrictEqual([ran.code, ran.out], [0, "for nothing\n"])
    assert.include(ran.error, "demo/free is free, nothing was paid")
  })

  it("sends the same payment once more when the model fails briefly", async () => {
    paid.failNext(1)
    const ran = await pay("again", "--model", "demo/flaky", "--whole")
    assert.deepStrictEqual([ran.code, ran.out], [0, "again\n"], ran.error)
  })

  it("reports the refusal, its reason, and that nothing was paid", async () => {
    const before = await paid.evm.balance()
    const empty = await starling(withKey(generatePrivateKey()), "pay", "hello", "--key-env", "A_KEY")
    assert.strictEqual(empty.code, 1)
    assert.match(empty.error, /\(402, PAYMENT_UNFUNDED, payer 0x[0-9a-fA-F]{40}\)[^]*nothing was paid/u)
    const away = await pay("!status 500")
    assert.match(away.error, /\(50\d, [A-Z_]+\)[^]*the payment was not used, nothing was paid/u)
    const unknown = await pay("hello", "--model", "no/such")
    assert.match(unknown.error, /Unknown model: no\/such\.[^]*\(400\)\n  nothing was paid/u)
    const broken = await pay("!drop 2 and more words here")
    assert.strictEqual(broken.code, 1)
    assert.include(broken.error, "the answer broke off")
    assert.strictEqual(await paid.evm.balance(), before)
  })

  it("never shows a key, even an unreadable one", async () => {
    const key = "0xnot-a-key-but-a-secret-all-the-same"
    for (const chain of ["evm", "solana"]) {
      const ran = await starling(withKey(key), "pay", "hello", "--key-env", "A_KEY", "--chain", chain)
      assert.strictEqual(ran.code, 2)
      assert.include(ran.error, "the payer's key cannot be read")
      showsNoKey(ran, key)
    }
    const unset = await pay("hello", "--key-env", "NO_SUCH_KEY")
    assert.deepStrictEqual([unset.code, unset.error], [2, "starling: NO_SUCH_KEY is not set\n"])
  })

  it.each([
    [[], "pay for what?"],
    [["x", "--chain", "tron"], "it is evm or solana"],
    [["x", "--max-usd", "much"], "it is dollars with at most six decimals"],
    [["x", "--rpc", "ftp://x"], "it is a URL of http or https"],
    [["x", "--nothing"], "Unknown option"]
  ])("prints usage for wrong options %j and exits with 2", async (parameters, reason) => {
    const ran = await pay(...parameters)
    assert.strictEqual(ran.code, 2)
    assert.include(ran.error, reason)
  })

  it("says that no fleet runs, and exits with 69", async () => {
    const home = newHome()
    const none = await starling(home, "pay", "hello")
    assert.strictEqual(none.code, 69)
    assert.include(none.error, "no fleet has run in")
    const chains = { evm: { rpc: "http://127.0.0.1:65531", payer: { privateKey: generatePrivateKey() } } }
    writeFileSync(join(home.folder, "ready.json"), JSON.stringify({ gateway: "http://127.0.0.1:65531", chains }))
    const gone = await starling(home, "pay", "hello")
    assert.strictEqual(gone.code, 69)
    assert.include(gone.error, "nothing answers at http://127.0.0.1:65531")
    home.remove()
  })
})
