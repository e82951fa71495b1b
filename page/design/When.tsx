import { Field } from "./Field.tsx"

interface WhenProps {
  readonly label: string
  /** ISO time, or empty. */
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A moment of the reader's own clock. */
export const When = ({ label, value, onChange }: WhenProps) => (
  <Field label={label} hint="By your clock">
    {(given) => (
      <input
        {...given}
        type="datetime-local"
        step={1}
        value={localOf(value)}
        onChange={({ target }) => onChange(target.value === "" ? "" : new Date(target.value).toISOString())}
      />
    )}
  </Field>
)

/** `2026-11-24T12:00:00` of the reader's zone, as the control wants it; empty for no time. */
export const localOf = (iso: string) => {
  const at = new Date(iso)
  return Number.isNaN(at.getTime())
    ? ""
    : new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
