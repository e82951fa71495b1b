/** A channel and its commands for tests: a payer with 10,000 in it, and calls of up to 1,000. */
import { Result } from "effect"
import {
  type Channel,
  ChannelCommand,
  type ChannelFact,
  type ChannelMirror,
  type ChannelReason,
  type ChannelWorkKind,
  decide,
  evolveAll,
  type LeavingTerms
} from "../../../../libs/payments/channels/channel.ts"

const address = (digit: string) => `0x${digit.repeat(40)}`
export const testConfig = {
  payer: address("a"),
  payerAuthorizer: address("a"),
  receiver: address("b"),
  receiverAuthorizer: address("c"),
  token: address("d"),
  withdrawDelay: 900,
  salt: `0x${"0".repeat(64)}`
}
export const network = "eip155:84532"
export const leaseMs = 15_000

export const mirrorOf = (changes: Partial<ChannelMirror> = {}): ChannelMirror => ({
  balance: "10000",
  totalClaimed: "0",
  withdrawAmount: "0",
  withdrawRequestedAt: 0,
  refundNonce: "0",
  block: 1,
  ...changes
})

export const voucherOf = (max: bigint | number) => ({ maxClaimable: String(max), signature: `0x${"12".repeat(65)}` })

interface BeginOptions {
  readonly ticket?: string
  readonly kind?: ChannelWorkKind
  readonly amount?: bigint | number
  readonly holder?: string
  readonly receipted?: ReadonlyArray<string>
  readonly unclaimedMax?: bigint
  readonly leaving?: LeavingTerms
}

export const begin = (max: bigint | number, options: BeginOptions = {}) => {
  const { ticket = "t1", kind = "whole", amount = 1_000, holder = "gateway-1", ...debts } = options
  const binding = `request of ${ticket}`
  const work = { ticket, holder, kind, voucher: voucherOf(max), amount: String(amount), model: "demo/echo", binding }
  return { _tag: "Begin" as const, work, leaseMs, ...debts }
}
export const mirror = (changes: Partial<ChannelMirror> = {}) =>
  ChannelCommand.Mirror({ network, config: testConfig, mirror: mirrorOf(changes) })
export const charge = (amount: bigint | number, ticket = "t1") =>
  ChannelCommand.Charge({ ticket, amount: String(amount) })
export const release = (ticket = "t1") => ChannelCommand.Release({ ticket })
export const abandon = (ticket = "t1") => ChannelCommand.Abandon({ ticket })
export const serve = (ticket = "t1", spent = 100) => ChannelCommand.Serve({ ticket, spent: String(spent) })
export const renew = (ticket = "t1", spent = 0) => ChannelCommand.Renew({ ticket, leaseMs, spent: String(spent) })
/** The charge of a call whose answer lies in the record. */
export const chargeWithAnswer = (amount: bigint | number, ticket = "t1") =>
  ChannelCommand.Charge({ ticket, amount: String(amount), holdsAnswer: "SGVsbG8=" })
export const forget = (beforeMs: number) => ChannelCommand.Forget({ beforeMs })
export const lapse = ChannelCommand.Lapse()
export const receipted = (...tickets: ReadonlyArray<string>) => ChannelCommand.Receipted({ tickets })
export const signRefund = (amount: bigint | number, nonce = 0) =>
  ChannelCommand.SignRefund({ nonce: String(nonce), amount: String(amount) })

export interface Step {
  readonly command: ChannelCommand
  readonly before: Channel | null
  readonly facts: ReadonlyArray<ChannelFact>
  readonly refused: ChannelReason | null
  readonly after: Channel | null
  readonly nowMs: number
}

/** Carries commands out one after the other, as a store does. */
export const channelAtWork = () => {
  let state: Channel | null = null
  let nowMs = 1_000_000
  const steps: Array<Step> = []
  const tries = (command: ChannelCommand): Step => {
    const decided = decide(state, command, nowMs)
    const facts = Result.isSuccess(decided) ? decided.success : []
    const step: Step = {
      command,
      before: state,
      facts,
      refused: Result.isFailure(decided) ? decided.failure : null,
      after: evolveAll(state, facts, nowMs),
      nowMs
    }
    state = step.after
    steps.push(step)
    return step
  }
  return {
    steps,
    tries,
    passes: (ms: number) => void (nowMs += ms),
    now: () => nowMs,
    state: () => {
      if (state === null) throw new Error("the channel has no record")
      return state
    },
    held: () => state
  }
}
