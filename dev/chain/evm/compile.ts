/**
 * Compiles the contracts of the local chain to the code that is placed on it. Run as a program it writes `bytecode.ts`;
 * a test compiles again and compares, so that the file cannot fall behind its sources.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import solc from "solc"

const contractNames = [
  "LocalDollar",
  "LocalCoin",
  "ManyCalls",
  "Permit2",
  "UptoPermit2Proxy",
  "LocalWallet",
  "LocalWalletFactory",
  "LocalChannels",
  "LocalDepositCollector",
  "LocalPermit2Collector"
] as const
type ContractName = (typeof contractNames)[number]

// One fixed target and no hash of the sources in the code: the same text gives the same bytes on every machine.
const settings = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 10_000 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } }
}

interface Output {
  readonly errors?: ReadonlyArray<{ readonly formattedMessage: string }>
  readonly contracts?: Record<string, Record<string, { evm: { deployedBytecode: { object: string } } }>>
}

/** The runtime code of each contract, as 0x hex. Throws the compiler's messages, warnings included. */
export const compileContracts = (): Record<ContractName, `0x${string}`> => {
  const sources = Object.fromEntries(
    contractNames.map((name) => [
      `${name}.sol`,
      { content: readFileSync(join(import.meta.dirname, `contracts/${name}.sol`), "utf8") }
    ])
  )
  const input = JSON.stringify({ language: "Solidity", sources, settings })
  const { errors = [], contracts } = JSON.parse(solc.compile(input)) as Output
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join("\n"))
  const codeOf = (name: ContractName) =>
    [name, `0x${contracts?.[`${name}.sol`]?.[name]?.evm.deployedBytecode.object ?? ""}`] as const
  return Object.fromEntries(contractNames.map(codeOf)) as Record<ContractName, `0x${string}`>
}

const fileOf = (code: Record<ContractName, string>) => {
  const lines = contractNames.map((name) => `  ${name}:\n    "${code[name]}"`)
  return [
    "/** Made by `node dev/chain/evm/compile.ts` from the contracts beside it: the code that stands on the local chain. */",
    `export const bytecode = {\n${lines.join(",\n")}\n} as const`,
    ""
  ].join("\n")
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, "bytecode.ts"), fileOf(compileContracts()))
}
