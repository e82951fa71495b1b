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
  return { ...fields, [first]: rest.length === 0 ? value : within(fields[first], rest, value) }
}

/** Steps into a list are places of its entries, or the one after them. */
const within = (inner: unknown, steps: ReadonlyArray<string>, value: unknown): unknown => {
  if (!Array.isArray(inner)) {
    return withField(typeof inner === "object" && inner !== null ? (inner as Fields) : {}, steps, value)
  }
  const [step = "", ...rest] = steps
  const index = Number(step)
  if (!/^\d+$/u.test(step) || index > inner.length) return withField({}, steps, value)
  return inner.toSpliced(index, 1, rest.length === 0 ? value : within(inner[index], rest, value))
}

const byPath = (faults: ReadonlyArray<Fault>) =>
  Object.fromEntries(
    faults.slice(0, fieldsMax).map(({ path, message }) => [`set${path.replaceAll("/", ".")}`, message])
  )
