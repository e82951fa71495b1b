/** What each key of the configuration is for, by its path: `Bus.Url`, `Webhooks[].Name`. Pure. */
import { Schema } from "effect"

/** The parts of a schema that may hold fields further within. */
interface Holder {
  readonly fields?: Readonly<Record<string, Schema.Top>>
  readonly to?: Schema.Top
  readonly schema?: Schema.Top
  /** Of a list. */
  readonly value?: Schema.Top
}

export const settingsReasons = (file: { readonly fields: Readonly<Record<string, Schema.Top>> }) => {
  const reasons = new Map<string, string>()
  const look = (schema: Schema.Top, path: string): void => {
    const holder = schema as Holder
    if (holder.value !== undefined) return look(holder.value, `${path}[]`)
    if (holder.fields === undefined) {
      const within = holder.to ?? holder.schema
      return within === undefined ? undefined : look(within, path)
    }
    for (const [key, field] of Object.entries(holder.fields)) {
      const reason = Schema.resolveAnnotationsKey(field)?.["description"]
      if (typeof reason === "string") reasons.set(`${path}.${key}`, reason)
      look(field, `${path}.${key}`)
    }
  }
  for (const [name, section] of Object.entries(file.fields)) look(section, name)
  return reasons
}
