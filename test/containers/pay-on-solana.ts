/** Pays for one answer on Solana as a person would with the addresses of gateway and chain; the command's output. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { localAccount } from "../../dev/chain/solana/accounts.ts"
import type { Callable } from "./fleet.ts"
import { worldSeed } from "./world-places.ts"

const run = promisify(execFile)

export const payee = localAccount(worldSeed, "payee").address

export const payOnSolana = async (fleet: Callable, rpc: string, text: string): Promise<string> => {
  const places = ["--gateway", fleet.of("model-gateway").url, "--rpc", rpc]
  const { stdout } = await run(
    process.execPath,
    ["services/cli/main.ts", "pay", text, "--chain", "solana", ...places, "--key-env", "PAYER_KEY"],
    {
      cwd: join(import.meta.dirname, "../.."),
      env: { ...process.env, PAYER_KEY: localAccount(worldSeed, "payer").secretKey },
      timeout: 60_000
    }
  )
  return stdout
}
