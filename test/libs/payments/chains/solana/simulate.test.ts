import { assert, describe, it } from "@effect/vitest"
import { meaningOf } from "../../../../../libs/payments/chains/solana/simulate.ts"

const table: ReadonlyArray<readonly [string, unknown, string]> = [
  ["a message that was run", "AlreadyProcessed", "PAYMENT_REPLAY"],
  ["an old blockhash", "BlockhashNotFound", "PAYMENT_BLOCKHASH_STALE"],
  ["too few tokens", { InstructionError: [2, { Custom: 1 }] }, "PAYMENT_UNFUNDED"],
  ["a frozen account", { InstructionError: [2, { Custom: 17 }] }, "PAYMENT_UNFUNDED"],
  ["no token account", { InstructionError: [2, "InvalidAccountData"] }, "AccountMissing"],
  ["an account of nobody", { InstructionError: [2, "IncorrectProgramId"] }, "AccountMissing"],
  ["other decimals", { InstructionError: [2, { Custom: 18 }] }, "PAYMENT_INVALID"],
  ["somebody else's tokens", { InstructionError: [2, { Custom: 4 }] }, "PAYMENT_INVALID"],
  ["too few tokens for something else", { InstructionError: [3, { Custom: 1 }] }, "PAYMENT_INVALID"],
  ["an assertion that fails", { InstructionError: [3, { Custom: 6001 }] }, "PAYMENT_INVALID"],
  ["too few units", { InstructionError: [2, "ComputationalBudgetExceeded"] }, "PAYMENT_INVALID"],
  ["a program that is not there", "ProgramAccountNotFound", "PAYMENT_INVALID"],
  ["no SOL at all", "AccountNotFound", "NotThePayers"],
  ["too little SOL", "InsufficientFundsForFee", "NotThePayers"],
  ["too little SOL to stay", { InsufficientFundsForRent: { account_index: 0 } }, "NotThePayers"],
  ["too little SOL of another", { InsufficientFundsForRent: { account_index: 2 } }, "PAYMENT_INVALID"],
  ["a full block", "WouldExceedMaxBlockCostLimit", "NotThePayers"],
  ["accounts in use", "AccountInUse", "NotThePayers"],
  ["a shape that nobody knows", { Something: [] }, "PAYMENT_INVALID"],
  ["an instruction error without a place", { InstructionError: "x" }, "PAYMENT_INVALID"],
  ["a number", 7, "PAYMENT_INVALID"]
]

describe("a chain's error", () => {
  it.each(table)("%s", (_, error, wanted) => {
    const meaning = meaningOf(error)

    assert.strictEqual(meaning._tag === "Refused" ? meaning.code : meaning._tag, wanted)
  })
})
