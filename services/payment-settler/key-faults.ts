/**
 * The faults of the settling keys: none is named, a variable is not set, its value is no key, or none belongs to the
 * fee payer. No part of a key is ever shown. Pure.
 */
import { Result } from "effect"
import { chainFamilyOf, type Json, unreadable } from "#contracts"
import { type ConfigurationFault, unsetSecret } from "#runtime"
import { readSettlerKey } from "#x402"

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The faults of one network as it is written, or as far as it can be read. A facilitator's settling needs no key of
 * ours.
 */
export const keyFaultsOf = (
  network: Json,
  index: number,
  environment: Environment
): ReadonlyArray<ConfigurationFault> => {
  const { Network: name, SettlerKeyEnvVars: variables = [], FacilitatorUrl: facilitator, FeePayer: feePayer } = network
  const at = (key: string) => `Payments.Networks[${index}].${key}`
  if (facilitator !== undefined || !Array.isArray(variables)) return []
  if (variables.length === 0) return [{ path: at("SettlerKeyEnvVars"), message: "names no key to settle with" }]
  const isSolana = typeof name === "string" && chainFamilyOf(name) === "solana"
  const read = variables.map((variable: unknown, position) => {
    if (typeof variable !== "string" || typeof name !== "string") return undefined
    const path = at(`SettlerKeyEnvVars[${position}]`)
    const unset = unsetSecret(environment, variable)
    if (unset !== undefined) return { path, message: unset }
    const key = readSettlerKey(name, environment[variable] ?? "")
    return Result.isFailure(key) ? { path, message: `${variable}: ${key.failure}` } : key.success.address
  })
  const faults = read.flatMap((one) => (typeof one === "object" ? [one] : []))
  const areKnown = read.every((one) => typeof one === "string")
  if (!isSolana || !areKnown || feePayer === unreadable || read.includes(String(feePayer))) return faults
  return [{ path: at("FeePayer"), message: `no key of SettlerKeyEnvVars is that of ${String(feePayer)}` }]
}
