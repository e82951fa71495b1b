/**
 * The few questions that a payment asks a Solana node; each answer's shape is checked. Commitments are chosen per
 * question: the freshest state decides whether a transfer would succeed, and only final blocks are reconciled.
 */
import { Effect, Schema } from "effect"
import { ChainUnavailable } from "../../errors.ts"
import type { RpcRejected, JsonRpc, RpcError } from "../json-rpc.ts"

type Commitment = "processed" | "confirmed" | "finalized"
/** The finality of listed transactions: nodes keep no history of merely processed ones. */
export type Landed = "confirmed" | "finalized"

/** `err` is null for a transaction that succeeded. */
export interface SignatureStatus {
  readonly err: unknown
  readonly confirmationStatus: Commitment | null
}

const valueOf = <S extends Schema.Top>(value: S) => Schema.Struct({ value })

const Simulated = valueOf(Schema.Struct({ err: Schema.Unknown }))
const Accounts = valueOf(Schema.Array(Schema.NullOr(Schema.Unknown)).check(Schema.isMaxLength(100)))
const AccountBytes = valueOf(
  Schema.NullOr(Schema.Struct({ owner: Schema.String, data: Schema.Tuple([Schema.String, Schema.Literal("base64")]) }))
)
// A token account's amount follows its mint and its owner, low byte first.
const amountAt = { offset: 64, length: 8 }
const Amounts = valueOf(
  Schema.Tuple([Schema.NullOr(Schema.Struct({ data: Schema.Tuple([Schema.String, Schema.Literal("base64")]) }))])
)
const Lamports = valueOf(Schema.Int)
const BlockhashValid = valueOf(Schema.Boolean)
const Statuses = valueOf(
  Schema.Array(
    Schema.NullOr(
      Schema.Struct({
        err: Schema.Unknown,
        confirmationStatus: Schema.NullOr(Schema.Literals(["processed", "confirmed", "finalized"]))
      })
    )
  ).check(Schema.isMaxLength(256))
)
const ListedSignature = Schema.Struct({ signature: Schema.String, err: Schema.Unknown })
export interface ListedSignature extends Schema.Schema.Type<typeof ListedSignature> {}
const TokenBalance = Schema.Struct({
  accountIndex: Schema.Int,
  mint: Schema.String,
  owner: Schema.optional(Schema.String),
  uiTokenAmount: Schema.Struct({ amount: Schema.String })
})
const Transaction = Schema.NullOr(
  Schema.Struct({
    transaction: Schema.Tuple([Schema.String, Schema.Literal("base64")]),
    meta: Schema.Struct({
      err: Schema.Unknown,
      preTokenBalances: Schema.Array(TokenBalance),
      postTokenBalances: Schema.Array(TokenBalance)
    })
  })
)
export interface LandedTransaction extends NonNullable<Schema.Schema.Type<typeof Transaction>> {}

export interface SolanaNode {
  /** The transaction's error, or null if it would succeed. Signatures are not checked: one is still missing. */
  readonly simulate: (wire: Uint8Array) => Effect.Effect<unknown, RpcError | ChainUnavailable>
  /** The balance of a token account, in the smallest unit; undefined if there is none. */
  readonly tokenBalance: (address: string) => Effect.Effect<bigint, ChainUnavailable>
  /** An account's lamports. */
  readonly balance: (address: string) => Effect.Effect<bigint, ChainUnavailable>
  /** Whether each account exists. */
  readonly exist: (addresses: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<boolean>, ChainUnavailable>
  /** The program that owns an account, and the account's data; null for none. */
  readonly account: (
    address: string
  ) => Effect.Effect<{ readonly owner: string; readonly data: Uint8Array } | null, ChainUnavailable>
  readonly isBlockhashValid: (blockhash: string, commitment: Commitment) => Effect.Effect<boolean, ChainUnavailable>
  /** Null: unknown to the node. `history`: also searches further back than the last few minutes. */
  readonly status: (
    signature: string,
    options: { readonly history: boolean }
  ) => Effect.Effect<SignatureStatus | null, ChainUnavailable>
  /** With `isFirst` the node simulates it before forwarding it, and rejects a transaction that would fail. */
  readonly send: (
    wire: Uint8Array,
    options: { readonly isFirst: boolean }
  ) => Effect.Effect<string, RpcError | ChainUnavailable>
  /** Signatures of transactions with an account, newest first: older than `before`, newer than `until`. */
  readonly signatures: (
    address: string,
    page: { readonly before: string | null; readonly until: string | null; readonly limit: number },
    commitment: Landed
  ) => Effect.Effect<ReadonlyArray<ListedSignature>, ChainUnavailable>
  readonly transaction: (
    signature: string,
    commitment: Landed
  ) => Effect.Effect<LandedTransaction | null, ChainUnavailable>
}

export const solanaNode = (call: JsonRpc["call"]): SolanaNode => {
  const asked: Asked = (schema, method, params) =>
    call(method, params).pipe(
      Effect.mapError((error) => new ChainUnavailable({ operation: method, detail: error.message })),
      Effect.flatMap(decodedBy(schema, method))
    )
  return {
    simulate: (wire) =>
      call("simulateTransaction", [
        base64(wire),
        { encoding: "base64", sigVerify: false, replaceRecentBlockhash: false, commitment: "processed" }
      ]).pipe(
        Effect.flatMap(decodedBy(Simulated, "simulateTransaction")),
        Effect.map(({ value }) => value.err ?? null)
      ),
    send: (wire, { isFirst }) =>
      call("sendTransaction", [
        base64(wire),
        { encoding: "base64", skipPreflight: !isFirst, preflightCommitment: "processed", maxRetries: 0 }
      ]).pipe(Effect.flatMap(decodedBy(Schema.String, "sendTransaction"))),
    ...presentState(asked),
    ...history(asked)
  }
}

type Asked = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  method: string,
  params: ReadonlyArray<unknown>
) => Effect.Effect<S["Type"], ChainUnavailable>

const presentState = (
  asked: Asked
): Pick<SolanaNode, "tokenBalance" | "balance" | "exist" | "account" | "isBlockhashValid" | "status"> => ({
  tokenBalance: (address) =>
    asked(Amounts, "getMultipleAccounts", [
      [address],
      { encoding: "base64", commitment: "processed", dataSlice: amountAt }
    ]).pipe(Effect.map(({ value: [account] }) => (account === null ? 0n : amountIn(account.data[0])))),
  balance: (address) =>
    Effect.map(asked(Lamports, "getBalance", [address, { commitment: "confirmed" }]), ({ value }) => BigInt(value)),
  exist: (addresses) =>
    asked(Accounts, "getMultipleAccounts", [
      addresses,
      { encoding: "base64", commitment: "processed", dataSlice: { offset: 0, length: 0 } }
    ]).pipe(Effect.map(({ value }) => addresses.map((_, index) => (value[index] ?? null) !== null))),
  account: (address) =>
    asked(AccountBytes, "getAccountInfo", [address, { encoding: "base64", commitment: "confirmed" }]).pipe(
      Effect.map(({ value }) =>
        value === null ? null : { owner: value.owner, data: Buffer.from(value.data[0], "base64") }
      )
    ),
  isBlockhashValid: (blockhash, commitment) =>
    asked(BlockhashValid, "isBlockhashValid", [blockhash, { commitment }]).pipe(Effect.map(({ value }) => value)),
  status: (signature, { history }) =>
    asked(Statuses, "getSignatureStatuses", [[signature], { searchTransactionHistory: history }]).pipe(
      Effect.map(({ value }) => value[0] ?? null)
    )
})

const amountIn = (base64: string): bigint => {
  const bytes = Buffer.from(base64, "base64")
  return bytes.length < amountAt.length ? 0n : bytes.readBigUInt64LE()
}

const history = (asked: Asked): Pick<SolanaNode, "signatures" | "transaction"> => ({
  signatures: (address, { before, until, limit }, commitment) =>
    asked(Schema.Array(ListedSignature), "getSignaturesForAddress", [
      address,
      {
        commitment,
        limit,
        ...(before === null ? {} : { before }),
        ...(until === null ? {} : { until })
      }
    ]),
  // Any version: an unreadable transaction is judged by its balances.
  transaction: (signature, commitment) =>
    asked(Transaction, "getTransaction", [
      signature,
      { encoding: "base64", commitment, maxSupportedTransactionVersion: 255 }
    ])
})

/** The error of a transaction that the node refused to forward; `undefined` for another kind of rejection. */
export const preflightError = (error: RpcRejected): unknown => {
  const decoded = decodePreflight(error.data)
  return decoded._tag === "Success" ? decoded.success.err : undefined
}

const decodePreflight = Schema.decodeUnknownResult(Schema.Struct({ err: Schema.Unknown }))

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")

const decodedBy = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, operation: string) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (answer: unknown) =>
    decode(answer).pipe(
      Effect.mapError(() => new ChainUnavailable({ operation, detail: "the node's answer has another shape" }))
    )
}
