/** What a list is filtered by: one line of chips, each removed by a click, and the fields behind a button. */
import { type ReactNode, useEffect, useRef, useState } from "react"
import type { Filters } from "../address.ts"
import { ActiveChip, Chip } from "./Chip.tsx"
import { Button } from "./Button.tsx"
import { Field, type FieldControl } from "./Field.tsx"
import { printable } from "./shown.ts"
import { localOf } from "./When.tsx"

export interface FilterField<Name extends string> {
  readonly name: Name
  readonly label: string
  readonly hint?: string
  /** `moment`: a time of the reader's own clock; `day`: a date. Text without it. */
  readonly kind?: "moment" | "day"
  /** The only values, with their words where those differ. Few of them stand in the line itself. */
  readonly choices?: ReadonlyArray<Choice>
  /** What may be typed; all of it without. */
  readonly accept?: (typed: string) => string
}

export type Choice = string | { readonly value: string; readonly label: string }

interface FilterBarProps<Name extends string> {
  readonly filters: Pick<Filters<Name>, "values" | "set">
  readonly fields: ReadonlyArray<FilterField<Name>>
  /** What can be done with all that matches. */
  readonly children?: ReactNode
}

const chipsMax = 5

const valueOf = (choice: Choice) => (typeof choice === "string" ? choice : choice.value)
const labelOf = (choice: Choice) => (typeof choice === "string" ? choice : choice.label)
const isInLine = ({ choices = [] }: FilterField<string>) => choices.length > 0 && choices.length <= chipsMax

export const FilterBar = <Name extends string>({
  filters: { values, set },
  fields,
  children
}: FilterBarProps<Name>) => {
  const behind = fields.filter((field) => !isInLine(field))
  const [isOpen, setOpen] = useState(false)
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isOpen) panel.current?.querySelector<HTMLElement>("input, select")?.focus()
  }, [isOpen])
  const change = (name: Name, value: string) => set({ [name]: value } as Partial<Record<Name, string>>)
  const active = behind.filter(({ name }) => values[name] !== "")
  const all = fields.filter(({ name }) => values[name] !== "")
  return (
    <section className="filter-bar" aria-label="Filters">
      <div className="row">
        {behind.length === 0 ? null : (
          <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Filter
          </Button>
        )}
        {fields.filter(isInLine).map((field) => (
          <Choices
            key={field.name}
            field={field}
            chosen={values[field.name]}
            onChoose={(to) => change(field.name, to)}
          />
        ))}
        {active.map((field) => (
          <ActiveChip
            key={field.name}
            label={`${field.label}: ${shownValue(field, values[field.name])}`}
            onClick={() => change(field.name, "")}
          />
        ))}
        {all.length > 1 ? (
          <Button
            kind="bare"
            onClick={() => set(Object.fromEntries(all.map(({ name }) => [name, ""])) as Partial<Record<Name, string>>)}
          >
            Clear filters
          </Button>
        ) : null}
        {children === undefined ? null : <div className="row filter-acts">{children}</div>}
      </div>
      {isOpen ? (
        <div className="filters" ref={panel}>
          {behind.map((field) => (
            <Field key={field.name} label={field.label} hint={field.hint}>
              {(given) => (
                <Control
                  given={given}
                  field={field}
                  value={values[field.name]}
                  onChange={(value) => change(field.name, value)}
                />
              )}
            </Field>
          ))}
        </div>
      ) : null}
    </section>
  )
}

const shownValue = ({ kind, choices = [] }: FilterField<string>, value: string) => {
  if (kind === "moment") return new Date(value).toLocaleString()
  const choice = choices.find((each) => valueOf(each) === value)
  return printable(choice === undefined ? value : labelOf(choice))
}

interface ChoicesProps {
  readonly field: FilterField<string>
  readonly chosen: string
  readonly onChoose: (value: string) => void
}

const Choices = ({ field: { label, choices = [] }, chosen, onChoose }: ChoicesProps) => (
  <span className="chips" role="group" aria-label={label}>
    <span className="soft">{label}</span>
    {choices.map((choice) => {
      const value = valueOf(choice)
      return (
        <Chip
          key={value}
          label={labelOf(choice)}
          isOn={value === chosen}
          onClick={() => onChoose(value === chosen ? "" : value)}
        />
      )
    })}
  </span>
)

interface ControlProps {
  readonly given: FieldControl
  readonly field: FilterField<string>
  readonly value: string
  readonly onChange: (value: string) => void
}

const textMax = 256

const Control = ({ given, field: { kind, choices, accept }, value, onChange }: ControlProps) => {
  if (choices !== undefined) {
    return (
      <select {...given} value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">any</option>
        {choices.map((choice) => (
          <option key={valueOf(choice)} value={valueOf(choice)}>
            {labelOf(choice)}
          </option>
        ))}
      </select>
    )
  }
  if (kind === "moment") {
    return (
      <input
        {...given}
        type="datetime-local"
        step={1}
        value={localOf(value)}
        onChange={({ target }) => onChange(target.value === "" ? "" : new Date(target.value).toISOString())}
      />
    )
  }
  return (
    <input
      {...given}
      type={kind === "day" ? "date" : "search"}
      autoComplete="off"
      spellCheck={false}
      maxLength={textMax}
      value={value}
      onChange={({ target }) => onChange((accept ?? trimmed)(target.value))}
    />
  )
}

const trimmed = (text: string) => text.trim()
