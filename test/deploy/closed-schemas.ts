/**
 * Schemas of Kubernetes and its controllers, closed: unknown fields are faults, as in a server's strict check.
 * Otherwise a misspelt field would be dropped silently.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Ajv, type ValidateFunction } from "ajv"
import { parse } from "yaml"
import { nackConsumer, nackStream } from "./nack-kinds.ts"

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

// Flags within a pattern are Go's and not JavaScript's.
const isGoPattern = (pattern: unknown) => typeof pattern === "string" && pattern.includes("(?i)")

const close = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(close)
  if (!isObject(value)) return value
  if (value["format"] === "int-or-string") return { type: ["integer", "string"] }
  const kept = Object.entries(value).filter(([key, inner]) => !(key === "pattern" && isGoPattern(inner)))
  const closed = Object.fromEntries(kept.map(([key, inner]) => [key, close(inner)]))
  const isOpen = "additionalProperties" in value || value["x-kubernetes-preserve-unknown-fields"] === true
  return isObject(value["properties"]) && !isOpen ? { ...closed, additionalProperties: false } : closed
}

interface Definition {
  readonly "x-kubernetes-group-version-kind"?: ReadonlyArray<{
    readonly group: string
    readonly version: string
    readonly kind: string
  }>
}

interface Crd {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: ReadonlyArray<{ readonly name: string; readonly schema: { readonly openAPIV3Schema: Json } }>
  }
}

/** A validator for each `apiVersion/kind`. */
export const closedSchemas = (folder: string): ((kind: string) => ValidateFunction | undefined) => {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  const found = new Map<string, () => ValidateFunction>()
  const swagger = close(JSON.parse(readFileSync(join(folder, "kubernetes.json"), "utf8"))) as {
    readonly definitions: Readonly<Record<string, Definition>>
  }
  ajv.addSchema({ definitions: swagger.definitions }, "kubernetes")
  for (const [name, definition] of Object.entries(swagger.definitions)) {
    for (const { group, version, kind } of definition["x-kubernetes-group-version-kind"] ?? []) {
      const apiVersion = group === "" ? version : `${group}/${version}`
      found.set(`${apiVersion}/${kind}`, () => ajv.compile({ $ref: `kubernetes#/definitions/${name}` }))
    }
  }
  const files = ["keda.sh_scaledobjects", "monitoring.coreos.com_podmonitors", "monitoring.coreos.com_prometheusrules"]
  for (const file of files) {
    const { spec }: Crd = parse(readFileSync(join(folder, `${file}.yaml`), "utf8"))
    for (const { name, schema } of spec.versions) {
      found.set(`${spec.group}/${name}/${spec.names.kind}`, () => ajv.compile(close(schema.openAPIV3Schema) as Json))
    }
  }
  found.set("jetstream.nats.io/v1beta2/Stream", () => ajv.compile(nackStream))
  found.set("jetstream.nats.io/v1beta2/Consumer", () => ajv.compile(nackConsumer))
  return (kind) => found.get(kind)?.()
}
