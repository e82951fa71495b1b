/** The catalogue's example of an event, with fields set otherwise. Pure. */
import { Result } from "effect"
import { decodeEnvelope, exampleEnvelope, type Fault } from "#contracts"

type Fields = Readonly<Record<string, unknown>>

const fieldsMax = 100
const depthMax = 8

/** Undefined for an event that is not in the catalogue; else the envelope, or every fault by the path of its field. */
export const exampleWith = (
  event: string,
  set: Fields,
  occurredAt: string
): Result.Result<Fields, Readonly<Record<string, string>>> | undefined => {
  const example = exampleEnvelope(event)
  if (example === undefined) return undefined
  if (Object.keys(set).length > fieldsMax) return Result.fail({ set: `has more than ${fieldsMax} fields` })
  let envelope: Fields = { ...example, occurredAt }
  for (const [path, value] of Object.entries(set)) {
    const steps = path.split(".")
    if (steps.length > depthMax || steps.some(isForbidden))
      return Result.fail({ [`set.${path}`]: "is no path of a field" })
    envelope = withField(envelope, steps, value)
  }
  if (envelope["event"] !== event) return Result.fail({ "set.event": "is fixed" })
  return Result.mapBoth(decodeEnvelope(envelope), { onSuccess: () => envelope, onFailure: byPath })
}

const isForbidden = (step: string) => step === "" || step === "__proto__"

const withField = (fields: Fields, [first = "", ...rest]: ReadonlyArray<string>, value: unknown): Fields => {
  if (rest.length === 0) return { ...fields, [first]: value }
  const inner = fields[first]
  const object = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? (inner as Fields) : {}
  return { ...fields, [first]: withField(object, rest, value) }
}

const byPath = (faults: ReadonlyArray<Fault>) =>
  Object.fromEntries(
    faults.slice(0, fieldsMax).map(({ path, message }) => [`set${path.replaceAll("/", ".")}`, message])
  )
