/** An event type ready for use: its schema compiled, its name free. Pure. */
import { Result } from "effect"
import { type Fault, findEvent } from "#base"
import { mayComeFromOutside } from "#bus"
import type { EventTypeEntry } from "#events/contract"
import { detailsCheck, type DetailsCheck } from "./details-schema.ts"

export interface EventType {
  readonly name: string
  readonly owners: ReadonlySet<string>
  readonly description: string | undefined
  readonly schema: Readonly<Record<string, unknown>> | undefined
  readonly example: Readonly<Record<string, unknown>> | undefined
  readonly schemaVersion: string
  /** Delivered only to endpoints whose filter asks for it. */
  readonly isOptIn: boolean
  readonly isRetired: boolean
  readonly check: DetailsCheck
}

/** Fails with all that is wrong with its name, its schema and its example; paths are JSON pointers into the entry. */
export const readEventType = (entry: EventTypeEntry): Result.Result<EventType, ReadonlyArray<Fault>> => {
  const check = entry.Schema === undefined ? Result.succeed(takesAll) : detailsCheck(entry.Schema)
  const faults = [...nameFaults(entry.Name), ...(Result.isFailure(check) ? under("/Schema", check.failure) : [])]
  if (Result.isFailure(check)) return Result.fail(faults)
  if (entry.Example !== undefined) faults.push(...under("/Example", check.success(entry.Example)))
  if (faults.length > 0) return Result.fail(faults)
  return Result.succeed({
    name: entry.Name,
    owners: new Set(entry.Owners),
    description: entry.Description,
    schema: entry.Schema,
    example: entry.Example,
    schemaVersion: entry.SchemaVersion,
    isOptIn: entry.OptIn,
    isRetired: entry.Retired,
    check: check.success
  })
}

const takesAll: DetailsCheck = () => []

const nameFaults = (name: string): Array<Fault> =>
  findEvent(name) === undefined && mayComeFromOutside(name)
    ? []
    : [{ path: "/Name", message: `${name} belongs to the fleet: its events, and all names beside them, are declared` }]

/** The same faults, of a part of a larger value. */
export const under = (at: string, faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> =>
  faults.map(({ path, message }) => ({ path: `${at}${path}`, message }))
