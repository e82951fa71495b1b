/** The proxy between the roles and the chain and the provider, as a process of its own. */
import { join } from "node:path"
import { startHelper } from "../children.ts"
import type { Passed } from "./timed-proxy.ts"

export const startProxy = async (chainUrl: string, upstreamUrl: string) => {
  const script = join(import.meta.dirname, "timed-proxy.ts")
  const proxy = await startHelper<{ chain: string; provider: string }>(script, chainUrl, upstreamUrl)
  return {
    chain: proxy.said.chain,
    provider: proxy.said.provider,
    begin: () => proxy.ask<number>("begin"),
    report: () => proxy.ask<ReadonlyArray<Passed>>("report"),
    end: proxy.end
  }
}
