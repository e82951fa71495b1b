import { type ReactNode, useId } from "react"

interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  /** What is wrong with it, as the API or the form said. */
  readonly fault?: string | undefined
  /** The control, which takes these. */
  readonly children: (given: FieldControl) => ReactNode
}

/** What ties a control to its label, hint and fault. */
export interface FieldControl {
  readonly id: string
  readonly "aria-describedby"?: string
  readonly "aria-invalid": boolean
}

/** A control with its label, its hint and its fault, tied together for who hears the page. */
export const Field = ({ label, hint, fault, children }: FieldProps) => {
  const id = useId()
  const about = fault ?? hint
  const described = about === undefined ? {} : { "aria-describedby": `${id}-about` }
  return (
    <div className={`field ${fault === undefined ? "" : "faulty"}`}>
      <label htmlFor={id}>{label}</label>
      {children({ id, ...described, "aria-invalid": fault !== undefined })}
      {about === undefined ? null : (
        <p id={`${id}-about`} className="field-about">
          {about}
        </p>
      )}
    </div>
  )
}
