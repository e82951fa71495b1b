/**
 * What does not fit together in the models and providers of the gateway. Of values that cannot be read nothing is said,
 * so that their own faults do not bring forth others. Pure.
 */
import { entriesOf, isJson, type Json, unreadable } from "#contracts"
import type { ConfigurationFault } from "#runtime"

type Entry = readonly [index: number, entry: Json]

/** Of a configuration as it is written, or as far as it can be read. */
export const catalogueFaults = (file: Json): ReadonlyArray<ConfigurationFault> => {
  const providers = entriesOf(file, "ModelGateway", "Providers")
  const models = entriesOf(file, "ModelGateway", "Models")
  return [
    ...repeated(providers, "Name", "ModelGateway.Providers"),
    ...repeated(models, "Id", "ModelGateway.Models"),
    ...models.flatMap(([index, model]) => modelFaults(model, `ModelGateway.Models[${index}]`, providers))
  ]
}

const repeated = (entries: ReadonlyArray<Entry>, key: string, path: string): ReadonlyArray<ConfigurationFault> => {
  const seen = new Set<string>()
  return entries.flatMap(([index, entry]) => {
    const name = entry[key]
    if (typeof name !== "string") return []
    if (seen.has(name)) return [{ path: `${path}[${index}].${key}`, message: `${JSON.stringify(name)} is used twice` }]
    seen.add(name)
    return []
  })
}

const modelFaults = (model: Json, path: string, providers: ReadonlyArray<Entry>) => [
  ...upstreamFaults(model, path, providers),
  ...priceFaults(model, path)
]

const upstreamFaults = (model: Json, path: string, providers: ReadonlyArray<Entry>): Array<ConfigurationFault> => {
  const upstreams: ReadonlyArray<unknown> = Array.isArray(model["Upstreams"]) ? model["Upstreams"] : []
  return upstreams.flatMap((upstream, index) => {
    const name = isJson(upstream) ? upstream["Provider"] : undefined
    if (typeof name !== "string") return []
    const at = `${path}.Upstreams[${index}].Provider`
    const provider = providers.find(([, { Name }]) => Name === name)?.[1]
    if (provider === undefined) return [{ path: at, message: `there is no provider ${JSON.stringify(name)}` }]
    const isImage = provider["Kind"] === "anthropic" && model["Kind"] === "image"
    return isImage ? [{ path: at, message: "an anthropic provider makes no images" }] : []
  })
}

const priceKeys = ["FlatMicroUsd", "InputMicroUsdPerMillionTokens", "OutputMicroUsdPerMillionTokens"] as const

const priceFaults = (model: Json, path: string): Array<ConfigurationFault> => {
  if (model["Free"] === true || [...priceKeys, "Free", "Kind"].some((key) => model[key] === unreadable)) return []
  const [flat, ...byTokens] = priceKeys.map((key) => model[key])
  const hasPrice = flat !== undefined || byTokens.some((price) => Number(price ?? 0) > 0)
  return [
    ...(hasPrice ? [] : [{ path, message: "a model has a price, or is Free" }]),
    ...(model["Kind"] === "image" && flat === undefined
      ? [{ path: `${path}.FlatMicroUsd`, message: "an image has a flat price" }]
      : [])
  ]
}
