/** `pay`: a model call, paid for. */
import { Command, Flag } from "effect/cli"
import { json, text, toggle, words } from "../flags.ts"
import { running } from "../running.ts"

export const pay = Command.make(
  "pay",
  {
    words: words("prompt", "what the model is asked"),
    model: Flag.String("model").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription("which model (demo/echo)"),
      Flag.withDefault("demo/echo")
    ),
    chain: Flag.Literals("chain", ["evm", "solana"]).pipe(
      Flag.withDescription("where it is paid (evm)"),
      Flag.withDefault("evm")
    ),
    maxUsd: Flag.String("max-usd").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("sign no dearer quote; dollars with at most six decimals (1)"),
      // What wallets' own libraries sign without asking.
      Flag.withDefault("1")
    ),
    keyVariable: text("key-env", "NAME", "the variable that holds the payer's key; else the local chain's payer pays"),
    rpc: text("rpc", "URL", "a node of the chain; else the local one"),
    gateway: text("gateway", "URL", "the gateway; else that of the fleet of this home"),
    whole: toggle("whole", "take the answer in one piece"),
    json
  },
  (given) =>
    running(
      () => import("../pay/pay.ts"),
      ({ pay }) => pay(given)
    )
).pipe(
  Command.withShortDescription("pay for a model call"),
  Command.withDescription(
    "Asks the gateway for its quote, signs it and shows the answer as it comes; the quote, the receipt and what the wallet had before and after go to standard error. A key is read and never shown."
  ),
  Command.withExamples([
    { command: 'starling pay "Why is the sky blue?" --model demo/echo' },
    { command: 'starling pay "And the sea?" --chain solana --max-usd 0.05' }
  ])
)
