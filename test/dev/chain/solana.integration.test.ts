import { assert, describe, it } from "@effect/vitest"
import { createSolanaRpc, mainnet } from "@solana/kit"
import {
  ComputeBudgetProgram,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction
} from "@solana/web3.js"
import { createTransferCheckedInstruction, getAccount, getAssociatedTokenAddress, getMint } from "@solana/spl-token"
import { Effect } from "effect"
import { localAccount } from "../../../dev/chain/solana/accounts.ts"
import { rpcText } from "../../../dev/chain/solana/rpc-server.ts"
import { type LocalSolana, startLocalSolanaChain } from "../../../dev/chain/solana/LocalSolanaChain.ts"
import { bytesOf } from "../../libs/payments/chains/solana/transactions.ts"
import { decodeBase58 } from "../../../libs/payments/chains/solana/keys.ts"

const keypairOf = ({ secretKey }: { readonly secretKey: string }) =>
  Keypair.fromSecretKey(decodeBase58(secretKey) ?? new Uint8Array(0))

/** As a wallet makes it that pays its own fee. */
const transferOf = async (chain: LocalSolana, connection: Connection, units: bigint) => {
  const payer = keypairOf(chain.payer)
  const mint = new PublicKey(chain.mint)
  const { blockhash } = await connection.getLatestBlockhash()
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
      createTransferCheckedInstruction(
        await getAssociatedTokenAddress(mint, payer.publicKey),
        mint,
        await getAssociatedTokenAddress(mint, new PublicKey(chain.payTo.address)),
        payer.publicKey,
        units,
        chain.decimals
      )
    ]
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  transaction.sign([payer])
  return transaction
}

const start = Effect.fnUntraced(function* (...options: Parameters<typeof startLocalSolanaChain>) {
  const chain = yield* startLocalSolanaChain(...options)
  yield* chain.giveSol(chain.payer.address, 1_000_000_000n)
  return { chain, connection: new Connection(chain.rpcUrl, "confirmed"), rpc: createSolanaRpc(mainnet(chain.rpcUrl)) }
})

const promised = <A>(make: () => Promise<A>) => Effect.promise(make)

describe("the local Solana chain", () => {
  it.live("shows web3.js and spl-token the mint, the accounts and the money in them", () =>
    Effect.gen(function* () {
      const { chain, connection } = yield* start()
      const mint = new PublicKey(chain.mint)
      const at = yield* promised(() => getAssociatedTokenAddress(mint, new PublicKey(chain.payer.address)))
      const read = yield* promised(() => getMint(connection, mint))
      const account = yield* promised(() => getAccount(connection, at))
      const balance = yield* promised(() => connection.getTokenAccountBalance(at))
      const owned = yield* promised(() =>
        connection.getParsedTokenAccountsByOwner(new PublicKey(chain.payer.address), { mint })
      )
      const sol = yield* promised(() => connection.getBalance(new PublicKey(chain.feePayers[0]?.address ?? "")))

      assert.deepStrictEqual([read.decimals, read.isInitialized], [6, true])
      assert.strictEqual(account.amount, 1_000_000_000_000n)
      assert.strictEqual(account.owner.toBase58(), chain.payer.address)
      assert.strictEqual(balance.value.uiAmount, 1_000_000)
      assert.strictEqual(owned.value[0]?.account.data.parsed.info.tokenAmount.amount, "1000000000000")
      assert.isAbove(sol, 0)
    }).pipe(Effect.scoped)
  )

  it.live("writes every integer exactly, as clients that read 64 bits need it", () =>
    Effect.gen(function* () {
      const { chain, connection } = yield* start()
      const owner = chain.payer.address
      const transaction = yield* promised(() => transferOf(chain, connection, 1n))
      const signature = yield* promised(() => connection.sendTransaction(transaction))
      const asked = (method: string, ...params: ReadonlyArray<unknown>) =>
        promised(async () => {
          const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
          const answer = await fetch(chain.rpcUrl, { method: "POST", body })
          return answer.text()
        })
      const calls: ReadonlyArray<readonly [string, ...ReadonlyArray<unknown>]> = [
        ["getAccountInfo", owner, { encoding: "base64" }],
        ["getAccountInfo", chain.mint, { encoding: "jsonParsed" }],
        ["getMultipleAccounts", [owner, chain.mint], { encoding: "base64" }],
        ["getBalance", owner],
        ["getMinimumBalanceForRentExemption", 165],
        ["getTokenAccountsByOwner", owner, { mint: chain.mint }, { encoding: "jsonParsed" }],
        ["getSlot"],
        ["getBlockHeight"],
        ["getEpochInfo"],
        ["getLatestBlockhash"],
        ["getSignatureStatuses", [signature]],
        ["getTransaction", signature, { encoding: "json", commitment: "confirmed" }],
        ["getSignaturesForAddress", owner, { commitment: "confirmed" }],
        ["getFeeForMessage", Buffer.from(transaction.message.serialize()).toString("base64")]
      ]
      const texts = yield* Effect.forEach(calls, (call) => asked(...call))
      for (const [at, text] of texts.entries()) {
        const [method = ""] = calls[at] ?? []
        assert.notInclude(text, '"error":{', method)
        const numbers = text.replace(/"(?:[^"\\]|\\.)*"/gu, '""').match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/giu) ?? []
        const integers = numbers.filter((number) => /^-?\d+$/u.test(number)).map(BigInt)
        assert.isTrue(
          integers.every((one) => one < 2n ** 64n),
          `${method}: ${text}`
        )
        assert.isFalse(
          numbers.some((number) => /e/iu.test(number)),
          `${method}: ${text}`
        )
      }
      assert.include(texts[0], '"rentEpoch":18446744073709551615')
      // No float holds it.
      assert.strictEqual(rpcText({ lamports: [2n ** 53n + 1n] }), '{"lamports":[9007199254740993]}')
      for (const lamports of [2 ** 53, 0.5, Number.NaN]) assert.throws(() => rpcText({ lamports }), "exact")
    }).pipe(Effect.scoped)
  )

  it.live("gives the time, the fees and its name to both libraries", () =>
    Effect.gen(function* () {
      const { chain, connection, rpc } = yield* start()
      const genesis = yield* promised(() => rpc.getGenesisHash().send())
      const { value } = yield* promised(() => rpc.getLatestBlockhash().send())
      const height = yield* promised(() => rpc.getBlockHeight().send())
      const valid = yield* promised(() => rpc.isBlockhashValid(value.blockhash).send())
      const epoch = yield* promised(() => connection.getEpochInfo())
      const rent = yield* promised(() => connection.getMinimumBalanceForRentExemption(165))
      const transaction = yield* promised(() => transferOf(chain, connection, 1n))
      const fee = yield* promised(() => connection.getFeeForMessage(transaction.message))

      assert.strictEqual(chain.network, `solana:${genesis.slice(0, 32)}`)
      assert.isTrue(valid.value)
      assert.isAtLeast(Number(value.lastValidBlockHeight - height), 149)
      assert.isAtLeast(epoch.absoluteSlot, Number(height))
      assert.deepStrictEqual([rent, fee.value], [2_039_280, 5_000])
      assert.deepStrictEqual(yield* promised(() => rpc.getRecentPrioritizationFees().send()), [])
      assert.strictEqual(yield* promised(() => rpc.getHealth().send()), "ok")
    }).pipe(Effect.scoped)
  )

  it.live("takes a transaction and reports its status, as a node does", () =>
    Effect.gen(function* () {
      const { chain, connection } = yield* start()
      const transaction = yield* promised(() => transferOf(chain, connection, 70n))
      const signature = yield* promised(() => connection.sendTransaction(transaction))
      const status = yield* promised(() => connection.getSignatureStatus(signature))
      const landed = yield* promised(() => connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 }))
      const parsedBalances = landed?.meta?.postTokenBalances?.map(({ uiTokenAmount }) => uiTokenAmount.amount)
      const listed = yield* promised(() => connection.getSignaturesForAddress(new PublicKey(chain.payTo.address)))
      const listedByMint = yield* promised(() => connection.getSignaturesForAddress(new PublicKey(chain.mint)))

      assert.deepInclude(status.value, { err: null, confirmationStatus: "finalized" })
      assert.deepStrictEqual(landed?.transaction.signatures, [signature])
      assert.deepStrictEqual(parsedBalances?.toSorted(), ["70", "999999999930"])
      assert.deepStrictEqual([listed.length, listedByMint.map((one) => one.signature)], [0, [signature]])
      assert.strictEqual(yield* chain.balance(chain.payTo.address), 70n)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a second run of one message, an old blockhash, a missing signature and an empty wallet", () =>
    Effect.gen(function* () {
      const { chain, connection } = yield* start()
      const transaction = yield* promised(() => transferOf(chain, connection, 70n))
      const later = yield* promised(() => transferOf(chain, connection, 71n))
      const tooMuch = yield* promised(() => transferOf(chain, connection, 10n ** 15n))
      const errorOf = (one: VersionedTransaction) =>
        promised(() => connection.simulateTransaction(one, { sigVerify: true }).then(({ value }) => value.err))
      assert.isNull(yield* errorOf(transaction))
      yield* promised(() => connection.sendTransaction(transaction))

      assert.strictEqual(yield* errorOf(transaction), "AlreadyProcessed")
      assert.deepStrictEqual(yield* errorOf(tooMuch), { InstructionError: [1, { Custom: 1 }] } as never)
      yield* chain.expireBlockhashes
      assert.strictEqual(yield* errorOf(later), "BlockhashNotFound")
      later.signatures[0] = new Uint8Array(64)
      const failure = yield* Effect.flip(Effect.tryPromise(() => connection.sendTransaction(later)))
      assert.include(String(failure.cause), "signature verification failure")
    }).pipe(Effect.scoped)
  )

  it.live("explains its refusal of input that it cannot read", () =>
    Effect.gen(function* () {
      const { chain } = yield* start()
      const ask = (body: string) =>
        promised(() =>
          fetch(chain.rpcUrl, { method: "POST", body }).then(
            (response) => response.json() as Promise<{ error: { code: number } }>
          )
        )
      const call = (method: string, ...params: ReadonlyArray<unknown>) =>
        ask(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))

      assert.strictEqual((yield* ask("{")).error.code, -32_700)
      assert.strictEqual((yield* call("getNothing")).error.code, -32_601)
      assert.strictEqual((yield* call("getBalance", "nobody")).error.code, -32_602)
      assert.strictEqual((yield* call("sendTransaction", "AAAA", { encoding: "base64" })).error.code, -32_602)
    }).pipe(Effect.scoped)
  )

  it.live("remembers no more transactions than configured", () =>
    Effect.gen(function* () {
      const { chain, connection } = yield* start({ historyMax: 2 })
      const send = (units: bigint) =>
        promised(() => transferOf(chain, connection, units).then((one) => connection.sendTransaction(one)))
      const signatures = [yield* send(1n), yield* send(2n), yield* send(3n)]

      assert.deepStrictEqual([...chain.bank.history.keys()], signatures.slice(1))
      assert.strictEqual(yield* chain.balance(chain.payTo.address), 6n)
    }).pipe(Effect.scoped)
  )

  it.live("answers a batch in its order", () =>
    Effect.gen(function* () {
      const { chain } = yield* start()
      const calls = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "getHealth" }))
      const answers = yield* promised(() =>
        fetch(chain.rpcUrl, { method: "POST", body: JSON.stringify(calls) }).then((response) => response.json())
      )

      assert.deepStrictEqual(
        answers,
        [1, 2].map((id) => ({ jsonrpc: "2.0", id, result: "ok" }))
      )
    }).pipe(Effect.scoped)
  )

  it.live("has the same accounts for the same seed, others for another, and runs legacy transactions", () =>
    Effect.gen(function* () {
      const { chain, connection } = yield* start({ seed: "home" })
      const payer = keypairOf(chain.payer)
      const transaction = new Transaction().add(
        SystemProgram.transfer({
          fromPubkey: payer.publicKey,
          toPubkey: new PublicKey(chain.payTo.address),
          lamports: 5_000_000
        })
      )
      yield* promised(() => connection.sendTransaction(transaction, [payer]))

      assert.deepStrictEqual(chain.payer, localAccount("home", "payer"))
      assert.notStrictEqual(localAccount("other", "payer").address, chain.payer.address)
      assert.strictEqual(bytesOf(chain.payer.address).length, 32)
      assert.strictEqual(yield* promised(() => connection.getBalance(new PublicKey(chain.payTo.address))), 5_000_000)
    }).pipe(Effect.scoped)
  )
})
