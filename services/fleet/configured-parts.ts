/** What a configuration file settles by itself, read before it is checked: what is left is for the local world to fill. Pure but for the reading. */
import { Effect, Result } from "effect"
import { roleNames } from "#contracts"
import { readTextFile } from "#runtime"

type Json = Readonly<Record<string, unknown>>

export interface ConfiguredParts {
  readonly hasNetworks: boolean
  readonly hasModels: boolean
  readonly roles: ReadonlyArray<string>
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const parsed = (text: string): unknown => Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
const sectionOf = (file: unknown, name: string): Json => {
  const section = isJson(file) ? file[name] : undefined
  return isJson(section) ? section : {}
}
const isFilled = (value: unknown) => Array.isArray(value) && value.length > 0

/** A file that is broken says nothing here; the check says what is wrong with it. */
export const partsOf = (text: string, environment: Readonly<Record<string, string | undefined>>): ConfiguredParts => {
  const file = parsed(text)
  const gateway = sectionOf(file, "ModelGateway")
  const roles = parsed(environment["FLEET_ROLES"] ?? "") ?? sectionOf(file, "Fleet")["Roles"]
  return {
    hasNetworks: isFilled(sectionOf(file, "Payments")["Networks"]),
    hasModels: isFilled(gateway["Models"]) || isFilled(gateway["Providers"]),
    roles: Array.isArray(roles) ? roles.map(String) : roleNames
  }
}

export const configuredParts = (path: string, environment: Readonly<Record<string, string | undefined>>) =>
  readTextFile(path).pipe(
    Effect.orElseSucceed(() => ""),
    Effect.map((text) => partsOf(text, environment))
  )
